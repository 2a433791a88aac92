import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema, type Part, PartSchema } from "@forge/protocol/session";

/** The message with another text in the place of all of its own; everything else stays. What a provider signed was the old text, so its mark goes with it. */
export function replaceText(message: Message, text: string): Message {
  const replaced = create(PartSchema, { kind: { case: "text", value: { text } } });
  const first = message.parts.findIndex(isText);
  const parts = message.parts.flatMap((part, index) => {
    if (index === first) return text === "" ? [] : [replaced];
    return isText(part) ? [] : [part];
  });
  if (first !== -1 || text === "") return create(MessageSchema, { ...message, parts });
  // Before what it calls, where a model says it.
  const call = parts.findIndex(({ kind }) => kind.case === "toolCall");
  return create(MessageSchema, { ...message, parts: parts.toSpliced(call === -1 ? parts.length : call, 0, replaced) });
}

function isText({ kind }: Part): boolean {
  return kind.case === "text";
}
