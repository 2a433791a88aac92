import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { ForgeError } from "@forge/protocol";
import { type Message, type Part, Role, type ToolResultPart } from "@forge/protocol/session";
import { decodeOrigin } from "./part-origin.ts";
import type { ToolNames } from "./tool-names.ts";

/** Who the prompt is for. */
export interface PromptTarget {
  readonly provider: string;
  readonly modelId: string;
  readonly toolNames: ToolNames;
}

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];
type UserContent = Extract<LanguageModelV4Message, { role: "user" }>["content"];

/**
 * Ids of calls as this provider is told them. Its own id where it gave one that no earlier call has, else ours: providers repeat ids, and refuse those
 * of others. Decided in the conversation's order, so that a longer conversation begins with the same bytes.
 */
class CallIds {
  readonly #byOurs = new Map<string, string>();
  readonly #taken = new Set<string>();

  assign(toolCallId: string, providerCallId: string): string {
    const wire = providerCallId !== "" && !this.#taken.has(providerCallId) ? providerCallId : toolCallId;
    this.#taken.add(wire);
    this.#byOurs.set(toolCallId, wire);
    return wire;
  }

  of(result: ToolResultPart): string {
    return this.#byOurs.get(result.toolCallId) ?? result.toolCallId;
  }
}

function unexpected(part: Part, role: string): ForgeError {
  return ForgeError.validation("messages", `A ${role} message can't hold a part of kind ${part.kind.case ?? "unset"}.`, { origin: "worker" });
}

function textOf(part: Part, role: string): string {
  if (part.kind.case !== "text") throw unexpected(part, role);
  return part.kind.value.text;
}

function userContent(parts: readonly Part[]): UserContent {
  return parts.map((part) => ({ type: "text", text: textOf(part, "user") }));
}

/** What the model wrote, with its provider's metadata where that provider is asked again, and its thoughts where that model is. */
function assistantContent(parts: readonly Part[], target: PromptTarget, ids: CallIds): AssistantContent {
  const content: AssistantContent = [];
  for (const part of parts) {
    const origin = decodeOrigin(part.providerMetadataJson);
    const isProvider = origin?.provider === target.provider;
    const providerOptions: SharedV4ProviderOptions | undefined = isProvider ? origin.metadata : undefined;
    const extra = providerOptions ? { providerOptions } : {};
    switch (part.kind.case) {
      case "text":
        // Empty text is kept for its provider's metadata alone.
        if (part.kind.value.text !== "" || providerOptions) content.push({ type: "text", text: part.kind.value.text, ...extra });
        break;
      case "reasoning":
        if (isProvider && origin.model === target.modelId) content.push({ type: "reasoning", text: part.kind.value.text, ...extra });
        break;
      case "toolCall": {
        const { toolCallId, providerCallId, tool, argumentsJson } = part.kind.value;
        const isForeign = origin !== undefined && !isProvider;
        content.push({
          type: "tool-call",
          toolCallId: ids.assign(toolCallId, isForeign ? "" : providerCallId),
          toolName: target.toolNames.toWire(tool),
          // A call without arguments may have been written as nothing at all, which is no JSON when sent back.
          input: argumentsJson.trim() === "" ? "{}" : argumentsJson,
          ...extra,
        });
        break;
      }
      default:
        throw unexpected(part, "assistant");
    }
  }
  return content;
}

function toolContent(parts: readonly Part[], target: PromptTarget, ids: CallIds): LanguageModelV4ToolResultPart[] {
  return parts.map((part) => {
    if (part.kind.case !== "toolResult") throw unexpected(part, "tool");
    const result = part.kind.value;
    return {
      type: "tool-result",
      toolCallId: ids.of(result),
      toolName: target.toolNames.toWire(result.tool),
      output: { type: result.isError ? "error-text" : "text", value: result.output },
    };
  });
}

function toMessage(message: Message, target: PromptTarget, ids: CallIds): LanguageModelV4Message | undefined {
  switch (message.role) {
    case Role.SYSTEM:
      return { role: "system", content: message.parts.map((part) => textOf(part, "system")).join("\n\n") };
    case Role.USER:
      return { role: "user", content: userContent(message.parts) };
    case Role.ASSISTANT: {
      // Nothing may be left once another model's thoughts are gone; providers refuse an empty message.
      const content = assistantContent(message.parts, target, ids);
      return content.length > 0 ? { role: "assistant", content } : undefined;
    }
    case Role.TOOL:
      return { role: "tool", content: toolContent(message.parts, target, ids) };
    default:
      throw ForgeError.validation("messages", `The message at seq ${message.seq} has an unknown role (${message.role}).`, { origin: "worker" });
  }
}

/** The provider-neutral conversation as the prompt of one provider. Artifacts must have been inlined. Throws validation. */
export function toPrompt(system: string, messages: readonly Message[], target: PromptTarget): LanguageModelV4Prompt {
  const ids = new CallIds();
  const prompt: LanguageModelV4Prompt = system === "" ? [] : [{ role: "system", content: system }];
  for (const message of messages) {
    const converted = toMessage(message, target, ids);
    if (converted) prompt.push(converted);
  }
  return prompt;
}
