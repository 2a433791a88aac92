import type { Event, HookEdit } from "@forge/protocol/event";
import type { Message, Part } from "@forge/protocol/session";
import { utf8Length } from "../../text.ts";
import type { ContextState } from "../loop-state.ts";
import type { SessionState } from "../state.ts";

/** Text that providers count differently is taken for a token each so many bytes, which is rather too many tokens than too few. */
const BYTES_PER_TOKEN = 3;
/** What an image, or a document that is no text, is taken for, in bytes of text. */
const MEDIA_BYTES = 4_500;
/** The share of the window from which on a conversation is compacted before the next call. */
const WINDOW_SHARE = 0.85;

/** An estimate of what the next request to the model holds, in tokens. */
export function estimatedTokens({ tokens, bytes }: ContextState): number {
  return tokens + Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** How many tokens fit into the model's context; 0 where nobody knows. */
export function windowTokens(state: SessionState): number {
  return state.agent?.contextWindowTokens ?? state.context.windowTokens;
}

/** Whether the next request comes near the model's window. */
export function isNearWindow(state: SessionState): boolean {
  const window = windowTokens(state);
  return window > 0 && estimatedTokens(state.context) > window * WINDOW_SHARE;
}

/** The context after an event, given the state before it. What a provider counts replaces all estimates up to its answer. */
export function contextAfter(state: SessionState, event: Event): ContextState {
  const { context } = state;
  const { payload } = event;
  switch (payload.case) {
    case "messageAdded":
      return grown(context, messageBytes(payload.value.message));
    case "turnSteered": {
      const bytes = messageBytes(payload.value.message);
      const isUnread = state.turn?.modelCall !== undefined;
      return { ...grown(context, bytes), unreadBytes: isUnread ? context.unreadBytes + bytes : context.unreadBytes };
    }
    case "modelRequested":
      return { ...context, unreadBytes: 0 };
    case "modelCompleted": {
      const seen = payload.value.contextWindowTokens;
      return { ...grown(context, partsBytes(payload.value.parts)), windowTokens: seen === 0 ? context.windowTokens : seen };
    }
    case "modelUsageRecorded": {
      const { usage } = payload.value;
      // A sub-agent's usage, and that of a call that failed, say nothing of this conversation.
      if (usage === undefined || event.modelCallId === "" || state.turn?.modelCall !== undefined) return context;
      return { ...context, tokens: Number(usage.inputTokens + usage.outputTokens), bytes: context.unreadBytes, unreadBytes: 0 };
    }
    case "toolCompleted": {
      const output = payload.value.output?.kind;
      if (output?.case === "json") return grown(context, utf8Length(output.value));
      return grown(context, output?.case === "artifact" ? utf8Length(output.value.preview) : 0);
    }
    case "toolFailed":
      return grown(context, utf8Length(payload.value.error?.message ?? ""));
    case "toolDenied":
      return grown(context, utf8Length(payload.value.reason));
    case "hookCompleted":
      return grown(
        context,
        payload.value.edits.reduce((sum, edit) => sum + editBytes(edit), 0),
      );
    case "sessionCompacted": {
      // What stays beside the summary is counted from the last model call on; the next one tells exactly.
      const kept = event.turnId === "" ? 0 : context.bytes;
      return { ...context, tokens: 0, bytes: kept + utf8Length(payload.value.summary) };
    }
    case "sessionRewound":
      // How much is left nobody has counted. The next call tells; where it is too much for the model, that is compacted then, and nothing is summarised for nothing.
      return { ...context, tokens: 0, bytes: 0, unreadBytes: 0 };
    default:
      return context;
  }
}

function grown(context: ContextState, bytes: number): ContextState {
  return bytes === 0 ? context : { ...context, bytes: context.bytes + bytes };
}

function messageBytes(message: Message | undefined): number {
  return partsBytes(message?.parts ?? []);
}

function partsBytes(parts: readonly Part[]): number {
  return parts.reduce((sum, { kind }) => {
    if (kind.case === "text" || kind.case === "reasoning") return sum + utf8Length(kind.value.text);
    if (kind.case === "toolCall") return sum + utf8Length(kind.value.argumentsJson) + utf8Length(kind.value.tool);
    if (kind.case === "artifact") return sum + (kind.value.mediaType.startsWith("text/") ? Number(kind.value.size) : MEDIA_BYTES);
    return sum;
  }, 0);
}

function editBytes({ kind }: HookEdit): number {
  if (kind.case === "addMessage") return messageBytes(kind.value);
  return kind.case === "replaceText" ? utf8Length(kind.value) : 0;
}
