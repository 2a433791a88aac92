import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, ForgeErrorSchema } from "@forge/protocol/common";
import { shorten } from "../text.ts";

/** Of ForgeError.message, by its contract. */
export const MESSAGE_LENGTH_MAX = 4096;

/** An error that the run itself notices at a step. */
export function stepError(code: ErrorCode, reason: string, stepId: string, message: string): ForgeError {
  return create(ForgeErrorSchema, {
    code,
    reason,
    message: shorten(`step "${stepId}": ${message}`, MESSAGE_LENGTH_MAX),
    origin: "control-plane",
    metadata: { step_id: stepId },
  });
}

/** What somebody else reported, with a reason and an origin where he gave none. */
export function reportedError(error: ForgeError | undefined, origin: string): ForgeError {
  if (error === undefined) {
    return create(ForgeErrorSchema, {
      code: ErrorCode.INTERNAL,
      reason: "STEP_EXECUTION",
      message: `the ${origin} reported a failure without an error`,
      origin,
    });
  }
  return create(ForgeErrorSchema, {
    ...error,
    message: shorten(error.message, MESSAGE_LENGTH_MAX),
    reason: error.reason || "STEP_EXECUTION",
    origin: error.origin || origin,
  });
}

/** The run's error where a step's failure ends it: the step's own, naming the step. */
export function runError(error: ForgeError, stepId: string): ForgeError {
  const message = error.metadata["step_id"] === stepId ? error.message : `step "${stepId}" failed: ${error.message}`;
  return create(ForgeErrorSchema, { ...error, message: shorten(message, MESSAGE_LENGTH_MAX), metadata: { ...error.metadata, step_id: stepId } });
}

/** A refusal of a command to a run. */
export function refusal(code: ErrorCode, reason: string, message: string, runId: string): { readonly rejection: ForgeError } {
  return { rejection: create(ForgeErrorSchema, { code, reason, message, origin: "control-plane", relatedIds: runId === "" ? [] : [runId] }) };
}
