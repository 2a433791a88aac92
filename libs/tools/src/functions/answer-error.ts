import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { exitSignal } from "../process/exit-signal.ts";
import { cutText, textEnd } from "../text.ts";
import type { ChildError } from "./child-protocol.ts";
import type { FunctionAnswer } from "./function-process.ts";

const MESSAGE_LENGTH_MAX = 4_096;
/** Of what a process printed before it ended. */
const LAST_WORDS_SHOWN = 1_000;

const KINDS: Record<ChildError["kind"], { code: ErrorCode; reason: string; what: string }> = {
  load: { code: ErrorCode.VALIDATION, reason: "FUNCTION_LOAD", what: "could not be loaded" },
  missing: { code: ErrorCode.NOT_FOUND, reason: "FUNCTION_NOT_FOUND", what: "was not found" },
  threw: { code: ErrorCode.INTERNAL, reason: "STEP_EXECUTION", what: "threw" },
  uncaught: { code: ErrorCode.INTERNAL, reason: "STEP_EXECUTION", what: "left something behind that threw" },
  result: { code: ErrorCode.VALIDATION, reason: "FUNCTION_RESULT", what: "returned what can't be stored" },
};

/** Why a function, or a file of functions, gave no result. */
export function answerError(name: string, answer: FunctionAnswer & { kind: "error" | "exited" }): ForgeError {
  if (answer.kind === "exited") return exitError(name, answer);
  const { code, reason, what } = KINDS[answer.error.kind];
  return new ForgeError(code, cutText(`${name} ${what}: ${answer.error.message}`, MESSAGE_LENGTH_MAX), { reason, origin: "worker" });
}

function exitError(name: string, { exit, lastWords }: FunctionAnswer & { kind: "exited" }): ForgeError {
  if (/heap out of memory|Reached heap limit/.test(lastWords)) {
    return new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `${name} used more memory than its process may have`, {
      reason: "FUNCTION_OUT_OF_MEMORY",
      origin: "worker",
      retryable: false,
    });
  }
  const signal = exitSignal(exit);
  const how = signal === null ? `with exit code ${exit.exitCode}` : `by ${signal}`;
  const said = lastWords.trim() === "" ? "" : `; it had printed: ${textEnd(lastWords.trim(), LAST_WORDS_SHOWN)}`;
  return new ForgeError(ErrorCode.INTERNAL, `the process of ${name} ended ${how} before the function returned${said}`, {
    reason: "FUNCTION_EXITED",
    origin: "worker",
  });
}
