import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Event, FinishReasonSchema } from "@forge/protocol/event";
import { partsText } from "../events/event-summary.ts";
import { enumName } from "../output/message-json.ts";
import { showValue } from "../output/value.ts";

/** What an agent did, call by call in the order of their ends: of models what they were asked for and said, of tools what they were given and gave. */
export function agentTrace(events: Iterable<Event>): JsonValue[] {
  const trace: JsonValue[] = [];
  const models = new Map<string, JsonObject>();
  const tools = new Map<string, JsonObject>();
  const end = (open: Map<string, JsonObject>, id: string, rest: JsonObject): void => {
    const call = open.get(id);
    if (call === undefined) return;
    open.delete(id);
    trace.push({ ...call, ...rest });
  };
  for (const { payload, modelCallId, toolCallId } of events) {
    switch (payload.case) {
      case "modelRequested":
        models.set(modelCallId, { type: "model", model: payload.value.model, call_index: payload.value.callIndex });
        break;
      case "modelCompleted": {
        const { finishReason, durationMs, parts } = payload.value;
        end(models, modelCallId, { text: partsText(parts), finish_reason: enumName(FinishReasonSchema, finishReason), duration_ms: Number(durationMs) });
        break;
      }
      case "modelFailed":
        end(models, modelCallId, { error: payload.value.error?.message ?? "" });
        break;
      case "modelCancelled":
        end(models, modelCallId, { error: "cancelled" });
        break;
      case "toolRequested":
        tools.set(toolCallId, { type: "tool", tool: payload.value.tool, arguments: payload.value.argumentsJson });
        break;
      case "toolCompleted":
        end(tools, toolCallId, { output: showValue(payload.value.output), duration_ms: Number(payload.value.durationMs) });
        break;
      case "toolFailed":
        end(tools, toolCallId, { error: payload.value.error?.message ?? "", duration_ms: Number(payload.value.durationMs) });
        break;
      case "toolDenied":
      case "toolCancelled":
      case "toolSettledUnknown":
        end(tools, toolCallId, { error: payload.value.reason });
        break;
      default:
    }
  }
  return [...trace, ...models.values(), ...tools.values()];
}
