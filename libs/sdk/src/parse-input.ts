import { ForgeError } from "@forge/protocol";
import type { z } from "zod";

/** A model corrects several mistakes at once; more are as many words for nothing. */
const ISSUES_SHOWN = 5;
const ISSUE_LENGTH_MAX = 500;

export interface ParseOptions {
  /** What the path begins with, for example `arguments`. */
  readonly root: string;
  readonly reason: string;
  /** What was therefore not done. */
  readonly consequence: string;
}

/** An input checked and converted by its schema. Errors: validation, naming the first field that is wrong, and the first five in the message. */
export async function parseInput<T>(schema: z.ZodType<T>, input: unknown, { root, reason, consequence }: ParseOptions): Promise<T> {
  const result = await schema.safeParseAsync(input);
  if (result.success) return result.data;
  const { issues } = result.error;
  const shown = issues.slice(0, ISSUES_SHOWN).map((issue) => `${fieldOf(root, issue)}: ${issue.message}`.slice(0, ISSUE_LENGTH_MAX));
  const more = issues.length > ISSUES_SHOWN ? `; and ${issues.length - ISSUES_SHOWN} more` : "";
  const [first] = issues;
  throw ForgeError.validation(first === undefined ? root : fieldOf(root, first), `${shown.join("; ")}${more}; ${consequence}`.toWellFormed(), {
    reason,
    origin: "worker",
  });
}

/** For example `arguments.items.0.name`, or the key that is too many. */
function fieldOf(root: string, issue: z.core.$ZodIssue): string {
  const extra = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  return [root, ...issue.path, ...extra].map(String).join(".").slice(0, ISSUE_LENGTH_MAX);
}
