import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { ForgeError } from "@forge/protocol";
import { type Message, type Part, Role, type ToolResultPart } from "@forge/protocol/session";
import type { Dialect } from "./dialect.ts";
import { type FileContents, filePart } from "./files.ts";
import { decodeOrigin } from "./part-origin.ts";
import type { ToolNames } from "./tool-names.ts";

/** Who the prompt is for. */
export interface PromptTarget {
  /** The family's name: what a model wrote under any name of its provider is its own. */
  readonly provider: string;
  readonly modelId: string;
  readonly toolNames: ToolNames;
  readonly dialect: Dialect;
  readonly files: FileContents;
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

/** Blank text says nothing, and some providers refuse a request for it. */
function isBlank(part: Part): boolean {
  return part.kind.case === "text" && part.kind.value.text.trim() === "";
}

function userContent(parts: readonly Part[], target: PromptTarget): UserContent {
  const said = parts.filter((part) => !isBlank(part));
  return said.map((part) => (part.kind.case === "artifact" ? filePart(part.kind.value, target.files) : { type: "text", text: textOf(part, "user") }));
}

function isObject(argumentsJson: string): boolean {
  try {
    const value: unknown = JSON.parse(argumentsJson);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A call's arguments as they go back: the text exactly, unless the provider could not read it. */
function callInput(argumentsJson: string, dialect: Dialect): string {
  // A call without arguments may have been written as nothing at all, which is no JSON when sent back.
  if (argumentsJson.trim() === "") return "{}";
  return dialect.callArguments === "text" || isObject(argumentsJson) ? argumentsJson : JSON.stringify({ invalid_arguments: argumentsJson });
}

/** What the model wrote; its thoughts, and what its provider noted with the parts, only where that same model is asked again. */
function assistantContent(parts: readonly Part[], target: PromptTarget, ids: CallIds): AssistantContent {
  const content: AssistantContent = [];
  for (const part of parts) {
    const origin = decodeOrigin(part.providerMetadataJson);
    const isProvider = origin?.provider === target.provider;
    const isSame = isProvider && origin.model === target.modelId;
    const providerOptions: SharedV4ProviderOptions | undefined = isSame ? origin.metadata : undefined;
    const extra = providerOptions ? { providerOptions } : {};
    switch (part.kind.case) {
      case "text":
        // Blank text is kept for its provider's metadata alone.
        if (!isBlank(part) || providerOptions) content.push({ type: "text", text: part.kind.value.text, ...extra });
        break;
      case "reasoning":
        if (isSame) content.push({ type: "reasoning", text: part.kind.value.text, ...extra });
        break;
      case "toolCall": {
        const { toolCallId, providerCallId, tool, argumentsJson } = part.kind.value;
        const isForeign = origin !== undefined && !isProvider;
        content.push({
          type: "tool-call",
          toolCallId: ids.assign(toolCallId, isForeign ? "" : providerCallId),
          toolName: target.toolNames.toWire(tool),
          input: callInput(argumentsJson, target.dialect),
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

/** Where a system message has no place, the user says it, marked so that it is not taken for a person's words. */
function systemMessage(text: string, isFirst: boolean, dialect: Dialect): LanguageModelV4Message {
  if (isFirst || dialect.systemMessages === "anywhere") return { role: "system", content: text };
  return { role: "user", content: [{ type: "text", text: `<system-message>\n${text}\n</system-message>` }] };
}

function toMessage(message: Message, isFirst: boolean, target: PromptTarget, ids: CallIds): LanguageModelV4Message | undefined {
  switch (message.role) {
    case Role.SYSTEM:
      return systemMessage(message.parts.map((part) => textOf(part, "system")).join("\n\n"), isFirst, target.dialect);
    case Role.USER: {
      const content = userContent(message.parts, target);
      return content.length > 0 ? { role: "user", content } : undefined;
    }
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

/** What a hook means that lets the loop go on after an answer. */
const GO_ON: LanguageModelV4Message = { role: "user", content: [{ type: "text", text: "Go on." }] };

/** The provider-neutral conversation as the prompt of one provider. Artifacts must have been inlined. Throws validation. */
export function toPrompt(system: string, messages: readonly Message[], target: PromptTarget): LanguageModelV4Prompt {
  const ids = new CallIds();
  const prompt: LanguageModelV4Prompt = system === "" ? [] : [{ role: "system", content: system }];
  for (const message of messages) {
    const isFirst = prompt.every((earlier) => earlier.role === "system");
    const converted = toMessage(message, isFirst, target, ids);
    if (converted) prompt.push(converted);
  }
  const isAnswered = prompt.at(-1)?.role === "assistant";
  return isAnswered && target.dialect.lastMessage === "user" ? [...prompt, GO_ON] : prompt;
}
