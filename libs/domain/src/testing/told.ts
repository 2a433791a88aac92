import { RoleSchema } from "@forge/protocol/session";
import { foldConversation } from "../conversation/fold-conversation.ts";
import { modelTask, type SessionStream, turnIdOf } from "./session-fixture.ts";

/** The conversation through a seq, each message as one line; with a turn's id, as that turn's model reads it. */
export function told(stream: SessionStream, options: { readonly turnId?: string; readonly through?: bigint; readonly hook?: boolean } = {}): string[] {
  const { turnId, through = BigInt(stream.seq), hook = false } = options;
  const events = stream.events.filter(({ seq }) => seq <= through);
  return foldConversation(events, turnId === undefined ? { hook } : { turnId, hook }).map(({ role, parts }) => {
    const texts = parts.map(({ kind }) => {
      if (kind.case === "text" || kind.case === "reasoning") return kind.value.text;
      if (kind.case === "toolCall") return `call ${kind.value.tool}`;
      return kind.case === "toolResult" ? kind.value.output : String(kind.case);
    });
    return `${(RoleSchema.value[role]?.name ?? "").replace("ROLE_", "").toLowerCase()}: ${texts.join(" | ")}`;
  });
}

/** What the model under way is sent. */
export function sent(stream: SessionStream): string[] {
  const { kind } = modelTask(stream).task;
  return told(stream, { turnId: turnIdOf(stream), through: kind.case === "model" ? kind.value.conversationThroughSeq : 0n });
}
