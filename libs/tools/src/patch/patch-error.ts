import { ForgeError } from "@forge/protocol";
import { cutText } from "../text.ts";

/** MALFORMED: the patch itself; MISMATCH: the file does not have what it names; AMBIGUOUS: the file has it more than once. */
export type PatchProblem = "MALFORMED" | "MISMATCH" | "AMBIGUOUS";

/** A patch that can't be applied, for the model: `where` names file and hunk or edit. */
export function patchError(problem: PatchProblem, where: string, what: string): ForgeError {
  return ForgeError.validation("arguments", cutText(`${where}: ${what}; nothing was changed`, 4_000), { reason: `PATCH_${problem}`, origin: "tool" });
}

/** A line in a message. */
export function quotedLine(text: string): string {
  return JSON.stringify(text.length > 160 ? `${cutText(text, 160)}…` : text);
}
