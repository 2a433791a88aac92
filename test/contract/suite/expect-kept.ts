import type { KnownFailure } from "./known-failing.ts";
import type { CaseResult } from "./run-case.ts";
import type { Mark } from "./table.ts";

export function markOf({ error }: Pick<CaseResult, "error">, known: KnownFailure | undefined): Mark {
  if (error === undefined) return "passed";
  return known === undefined ? "failed" : "known";
}

/** Passes where the promise was kept, or is known not to be. Errors: the case's own, with what its clients did; a case that passes though it is known to fail. */
export function expectKept({ error, trace }: Pick<CaseResult, "error" | "trace">, known: KnownFailure | undefined, knownFailingFile: string): void {
  if (error === undefined) {
    if (known !== undefined) throw new Error(`it passes now: take its line out of ${knownFailingFile} ("${known.reason}")`);
    return;
  }
  if (known !== undefined) return;
  if (!(error instanceof Error)) throw new Error(`${JSON.stringify(error)}\n\n${trace}`);
  error.message += `\n\nWhat its clients did, the last of it:\n${trace}\n`;
  throw error;
}
