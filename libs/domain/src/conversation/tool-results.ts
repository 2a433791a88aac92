import { create } from "@bufbuild/protobuf";
import type { Value } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { type ToolCallPart, type ToolResultPart, ToolResultPartSchema } from "@forge/protocol/session";

type EndPayload = Extract<Event["payload"], { case: "toolCompleted" | "toolFailed" | "toolDenied" | "toolCancelled" | "toolSettledUnknown" }>;

/** What the model is told of a call's end. */
export function endedCallResult(call: ToolCallPart, payload: EndPayload): ToolResultPart {
  switch (payload.case) {
    case "toolCompleted":
      return completedResult(call, payload.value.output);
    case "toolFailed": {
      const error = payload.value.error;
      const reason = error?.reason ? ` (${error.reason})` : "";
      return errorResult(call, `The call failed: ${error?.message ?? "no reason was given"}${reason}`);
    }
    case "toolDenied":
      return errorResult(call, `The call was denied and not executed: ${payload.value.reason || "no reason was given"}`);
    case "toolCancelled":
      return errorResult(call, `The call was cancelled: ${payload.value.reason || "no reason was given"}`);
    case "toolSettledUnknown":
      return errorResult(call, `The outcome of the call is unknown, it may or may not have taken effect: ${payload.value.reason || "no reason was given"}`);
    default:
      return payload satisfies never;
  }
}

/** Tells the model that a person changed the call's arguments before it was executed; the result as it is where nobody did. */
export function editedResult(result: ToolResultPart, argumentsJson: string | undefined): ToolResultPart {
  if (argumentsJson === undefined) return result;
  const note = `[A person changed the arguments of this call to: ${argumentsJson}]`;
  return create(ToolResultPartSchema, { ...result, output: `${note}\n${result.output}` });
}

/** Stands in for the end of a call that has none (yet), because providers refuse a call without a result. */
export function unfinishedResult(call: ToolCallPart): ToolResultPart {
  return errorResult(call, "The call has not finished.");
}

/** Ends a call that was open where a fork was taken: what came of it is in the source, and this conversation will not be told. */
export function forkedResult(call: ToolCallPart): ToolResultPart {
  return errorResult(call, "The outcome of the call is unknown, it may or may not have taken effect: the session was forked while the call was open.");
}

/** An output that lives in the artifact store is told by its beginning, and where the whole is. */
function completedResult(call: ToolCallPart, output: Value | undefined): ToolResultPart {
  if (output === undefined) return result(call, false, "null");
  switch (output.kind.case) {
    case "json":
      return result(call, false, output.kind.value);
    case "artifact": {
      const artifact = output.kind.value;
      const text = `${artifact.preview}\n[the beginning of ${artifact.size} bytes; the whole output is artifact ${artifact.sha256}]`;
      return create(ToolResultPartSchema, { ...result(call, false, text), artifact });
    }
    case undefined:
      return result(call, false, "null");
    default:
      return output.kind satisfies never;
  }
}

function errorResult(call: ToolCallPart, text: string): ToolResultPart {
  return result(call, true, text);
}

function result(call: ToolCallPart, isError: boolean, output: string): ToolResultPart {
  const { toolCallId, providerCallId, tool } = call;
  return create(ToolResultPartSchema, { toolCallId, providerCallId, tool, isError, output });
}
