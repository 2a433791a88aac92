import { constants } from "node:os";
import type { ProcessExit } from "./process-tree.ts";

/** The signal that ended a process: reported as such, or as the exit code 128 + number by the shell that runs it. */
export function exitSignal({ exitCode, signal }: ProcessExit): NodeJS.Signals | null {
  if (signal !== null) return signal;
  const name = Object.entries(constants.signals).find(([, number]) => exitCode === 128 + number)?.[0];
  return (name as NodeJS.Signals | undefined) ?? null;
}
