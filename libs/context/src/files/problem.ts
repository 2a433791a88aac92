import { ForgeError } from "@forge/protocol";

/** Why something is not part of the context, or not all of it. Nothing fails by it. */
export interface Problem {
  /** A path, or what somebody wrote for one. */
  readonly source: string;
  /** For people. */
  readonly message: string;
}

/** What a ForgeError says about a source; anything else is a fault of this program and is thrown on. */
export function problemOf(source: string, error: unknown): Problem {
  if (!(error instanceof ForgeError)) throw error;
  return { source, message: error.message };
}

/** A path in a message, with what could move a reader's cursor escaped. */
export function quoted(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path);
}
