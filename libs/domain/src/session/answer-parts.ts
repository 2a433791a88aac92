import { create } from "@bufbuild/protobuf";
import { type Part, PartSchema, ReasoningPartSchema, TextPartSchema, ToolCallPartSchema } from "@forge/protocol/session";
import { shorten } from "../text.ts";

const TOOL_NAME_MAX = 128;
const PROVIDER_CALL_ID_MAX = 256;

/**
 * A model's parts as they are kept: each call gets an id of ours, and a provider's id that no other call of the answer has, since providers refuse results
 * that they can't tell apart. What an assistant can't say is left out, and half surrogate pairs become U+FFFD, as any wire would make them.
 */
export function answerParts(parts: readonly Part[], newId: () => string): Part[] {
  const providerCallIds = new Set<string>();
  const kept: Part[] = [];
  for (const part of parts) {
    const providerMetadataJson = part.providerMetadataJson.toWellFormed();
    switch (part.kind.case) {
      case "text":
      case "reasoning": {
        const text = part.kind.value.text.toWellFormed();
        if (text === "" && providerMetadataJson === "") break;
        const kind =
          part.kind.case === "text"
            ? { case: part.kind.case, value: create(TextPartSchema, { text }) }
            : { case: part.kind.case, value: create(ReasoningPartSchema, { text }) };
        kept.push(create(PartSchema, { kind, providerMetadataJson }));
        break;
      }
      case "toolCall": {
        const { tool, argumentsJson } = part.kind.value;
        const toolCallId = newId();
        const offered = shorten(part.kind.value.providerCallId.toWellFormed(), PROVIDER_CALL_ID_MAX);
        const providerCallId = offered === "" || providerCallIds.has(offered) ? toolCallId : offered;
        providerCallIds.add(providerCallId);
        const value = create(ToolCallPartSchema, {
          toolCallId,
          providerCallId,
          tool: shorten(tool.toWellFormed(), TOOL_NAME_MAX),
          argumentsJson: argumentsJson.toWellFormed(),
        });
        kept.push(create(PartSchema, { kind: { case: "toolCall", value }, providerMetadataJson }));
        break;
      }
      case "artifact":
        kept.push(part);
        break;
      case "toolResult":
      case undefined:
        break;
      default:
        part.kind satisfies never;
    }
  }
  return kept;
}
