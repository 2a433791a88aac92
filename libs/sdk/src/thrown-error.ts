import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Logger } from "./context.ts";

const MESSAGE_LENGTH_MAX = 4096;

/** What somebody's code threw, as the end of its call: a ForgeError as it is, anything else by its message. The stack goes to the log and nowhere else. */
export function thrownError(thrown: unknown, { name, logger }: { readonly name: string; readonly logger: Logger }): ForgeError {
  if (thrown instanceof ForgeError) return thrown;
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  logger.error(`${name} threw`, { error: stack ?? describe(thrown) });
  return new ForgeError(ErrorCode.INTERNAL, `${name} threw ${describe(thrown)}`.slice(0, MESSAGE_LENGTH_MAX).toWellFormed(), {
    reason: "STEP_EXECUTION",
    origin: "worker",
    cause: thrown,
  });
}

function describe(thrown: unknown): string {
  if (thrown instanceof Error) return `${thrown.name}: ${thrown.message}`;
  try {
    return String(thrown);
  } catch {
    // An object without a text of its own.
    return "something that can't be shown";
  }
}
