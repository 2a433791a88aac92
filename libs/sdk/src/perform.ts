import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { InputRequiredSchema } from "@forge/protocol/worker";
import { failure, interrupted, type Outcome, type TaskContext } from "@forge/worker";
import type { Logger } from "./context.ts";
import { isInputRequired } from "./input-required.ts";
import { limitTime } from "./limit-time.ts";
import { thrownError } from "./thrown-error.ts";

/** How calls of somebody's code are made. */
export interface CallOptions {
  readonly logger: Logger;
  /** How long code may go on after its signal, until the call is settled as one of which nobody knows; absent: somebody else ends the process. */
  readonly graceMs?: number;
}

export interface PerformOptions extends CallOptions {
  readonly name: string;
  /** The longest that the call may take; absent: as long as its task. */
  readonly timeoutMs?: number;
}

const STOP_UNCONFIRMED = "STOP_UNCONFIRMED";

/** One call of somebody's code to its one end, whatever it throws and whether or not it heeds its signal. */
export async function perform(context: TaskContext, options: PerformOptions, action: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
  const startedAt = performance.now();
  const limit = limitTime(options.name, options.timeoutMs, context.signal);
  const over = new AbortController();
  try {
    const acting = action(limit.signal);
    return await (options.graceMs === undefined ? acting : Promise.race([acting, stuck(options.name, options.graceMs, limit.signal, over.signal)]));
  } catch (error) {
    const durationMs = performance.now() - startedAt;
    if (error instanceof ForgeError && error.reason === STOP_UNCONFIRMED) return failure(error, durationMs, { unknown: true });
    const cancelled = interrupted(context.signal);
    if (cancelled !== undefined) return cancelled;
    const { kind } = context.task;
    if (kind.case === "tool" && !kind.value.preview && !limit.signal.aborted && isInputRequired(error))
      return { case: "inputRequired", value: create(InputRequiredSchema, { question: error.message, resumeJson: error.resumeJson }) };
    // What code throws because of its signal says less than the signal's reason.
    return failure(limit.signal.aborted ? limit.signal.reason : thrownError(error, options), durationMs);
  } finally {
    over.abort();
    limit.end();
  }
}

/** Rejects when code goes on for too long after its signal. */
function stuck(name: string, graceMs: number, signal: AbortSignal, over: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const abort = (): void => {
      timer = setTimeout(
        () =>
          reject(
            new ForgeError(ErrorCode.INTERNAL, `${name} was told to stop and has not after ${graceMs / 1000} s`, {
              reason: STOP_UNCONFIRMED,
              origin: "worker",
            }),
          ),
        graceMs,
      );
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true, signal: over });
    over.addEventListener("abort", () => clearTimeout(timer), { once: true });
  });
}
