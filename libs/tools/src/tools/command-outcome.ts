import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { ProcessResult } from "../process/run-process.ts";
import { cutText, textEnd } from "../text.ts";
import { stopUnconfirmed } from "./stop-unconfirmed.ts";
import type { JsonValue } from "./tool-definition.ts";

/** Followed live; a command that prints more than anybody reads must not fill the event store. The result has the end in any case. */
const REPORTED_CHARACTERS_MAX = 256 * 1024;
/** Of each stream, in an error's message, which has room for 4,096 characters. */
const PRINTED_IN_ERROR_MAX = 1_600;

/** Shows output while a command runs, up to a bound that people don't read beyond. */
export function limitedReport(report: (text: string) => void): (text: string) => void {
  let reported = 0;
  return (text) => {
    if (reported >= REPORTED_CHARACTERS_MAX) return;
    reported += text.length;
    report(reported >= REPORTED_CHARACTERS_MAX ? `${text}\n[more output is not shown live]\n` : text);
  };
}

/** What a command's end is as a tool's output; throws where it did not end by itself. */
export function commandOutcome(result: ProcessResult, timeoutSeconds: number, signal: AbortSignal): { [key: string]: JsonValue } {
  if (!result.confirmedStopped) throw stopUnconfirmed("the command");
  if (result.ended === "timed_out") throw deadlineExceeded(`the command did not end within ${timeoutSeconds} s and was stopped`, result);
  if (result.ended === "aborted") {
    const reason: unknown = signal.reason;
    throw reason instanceof ForgeError && reason.code === ErrorCode.DEADLINE_EXCEEDED ? deadlineExceeded(reason.message, result) : reason;
  }
  return {
    exit_code: result.exitCode ?? -1,
    stdout: result.stdout.text,
    stderr: result.stderr.text,
    truncated: result.stdout.omittedBytes + result.stderr.omittedBytes > 0,
    duration_ms: Math.round(result.durationMs),
  };
}

function deadlineExceeded(what: string, { stdout, stderr }: ProcessResult): ForgeError {
  const printed = Object.entries({ stdout: stdout.text, stderr: stderr.text })
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `\n${name} until then${text.length > PRINTED_IN_ERROR_MAX ? " (its end)" : ""}:\n${textEnd(text, PRINTED_IN_ERROR_MAX)}`);
  return new ForgeError(ErrorCode.DEADLINE_EXCEEDED, cutText(`${what}${printed.join("")}`, 4_096), { origin: "tool" });
}
