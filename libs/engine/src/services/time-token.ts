import { ForgeError } from "@forge/protocol";
import type { TimeKey } from "../ports/index.ts";

/** The last time of a page, as an opaque token. */
export function timeToken({ atMs, commandId }: TimeKey): string {
  return Buffer.from(`${atMs} ${commandId}`).toString("base64url");
}

/** Errors: validation. */
export function parseTimeToken(token: string): TimeKey | undefined {
  if (token === "") return undefined;
  const match = /^(-?\d{1,15}) ([\x21-\x7e]{0,128})$/.exec(Buffer.from(token, "base64url").toString());
  if (match === null) throw ForgeError.validation("page_token", "page_token is none that this server gave: begin again without it");
  return { atMs: Number(match[1]), commandId: match[2] ?? "" };
}
