import { type Message, Role } from "@forge/protocol/session";

/** What a provider would refuse in a list of messages; empty where it accepts them. */
export function conversationFaults(messages: readonly Message[]): string[] {
  const faults: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.parts.length === 0) faults.push(`message ${index} is empty`);
    const calls = message.parts.flatMap((part) => (part.kind.case === "toolCall" ? part.kind.value : []));
    const next = messages[index + 1];
    if (calls.length > 0) {
      if (message.role !== Role.ASSISTANT) faults.push(`message ${index} has calls but is not an assistant's`);
      const results = next?.role === Role.TOOL ? next.parts : [];
      const answered = results.flatMap((part) => (part.kind.case === "toolResult" ? part.kind.value.toolCallId : "not a result"));
      if (answered.join() !== calls.map((call) => call.toolCallId).join()) faults.push(`the calls of message ${index} are not followed by their results`);
      if (new Set(calls.map((call) => call.providerCallId)).size !== calls.length) faults.push(`calls of message ${index} can't be told apart`);
    }
    const previous = messages[index - 1];
    const followsCalls = previous?.parts.some((part) => part.kind.case === "toolCall") === true;
    if (message.role === Role.TOOL && !followsCalls) faults.push(`message ${index} has results without calls`);
  }
  return faults;
}
