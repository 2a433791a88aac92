import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { exitSignal } from "../process/exit-signal.ts";
import { cutText, textEnd } from "../text.ts";
import type { ChildError } from "./child-protocol.ts";
import type { FunctionAnswer } from "./function-process.ts";

const MESSAGE_LENGTH_MAX = 4_096;
/** Of what a process printed before it ended. */
const LAST_WORDS_SHOWN = 1_000;

interface KindOfError {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly what: string;
}

const KINDS: Record<ChildError["kind"], KindOfError> = {
  load: { code: ErrorCode.VALIDATION, reason: "FUNCTION_LOAD", what: "could not be loaded" },
  missing: { code: ErrorCode.NOT_FOUND, reason: "FUNCTION_NOT_FOUND", what: "was not found" },
  threw: { code: ErrorCode.INTERNAL, reason: "STEP_EXECUTION", what: "threw" },
  uncaught: { code: ErrorCode.INTERNAL, reason: "STEP_EXECUTION", what: "left something behind that threw" },
  result: { code: ErrorCode.VALIDATION, reason: "FUNCTION_RESULT", what: "returned what can't be stored" },
  arguments: { code: ErrorCode.VALIDATION, reason: "FUNCTION_INPUT", what: "can't take what it was given" },
};

/** Where a tool's differ. */
const TOOL_REASONS: Partial<Record<ChildError["kind"], string>> = {
  load: "TOOL_LOAD",
  missing: "TOOL_NOT_FOUND",
  result: "TOOL_RESULT",
  arguments: "TOOL_ARGUMENTS",
};

/** Why a function, a tool, or a file of them, gave no result. */
export function answerError(name: string, answer: FunctionAnswer & { kind: "error" | "exited" }, of: "function" | "tool" = "function"): ForgeError {
  if (answer.kind === "exited") return exitError(name, answer);
  const { kind, message } = answer.error;
  const { code, reason, what } = KINDS[kind];
  const isTool = of === "tool";
  return new ForgeError(code, cutText(`${name} ${isTool && kind === "threw" ? "failed" : what}: ${message}`, MESSAGE_LENGTH_MAX), {
    reason: (isTool ? TOOL_REASONS[kind] : undefined) ?? reason,
    origin: isTool ? "tool" : "worker",
  });
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
