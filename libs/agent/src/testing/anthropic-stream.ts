/** Tokens as Anthropic counts them. */
export interface AnthropicUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens?: number;
  readonly cache_creation_input_tokens?: number;
}

/** One server-sent event, named by its type. */
export function anthropicEvent(data: { readonly type: string; readonly [key: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The event that begins an answer. */
export function messageStart(usage: AnthropicUsage = { input_tokens: 10, output_tokens: 1 }): string {
  const message = { id: "msg_1", type: "message", role: "assistant", content: [], model: "claude-test-2026", stop_reason: null, stop_sequence: null, usage };
  return anthropicEvent({ type: "message_start", message });
}

/** A block of the answer: its start, its deltas, its end. */
function block(index: number, start: object, deltas: readonly object[]): string {
  return [
    anthropicEvent({ type: "content_block_start", index, content_block: start }),
    ...deltas.map((delta) => anthropicEvent({ type: "content_block_delta", index, delta })),
    anthropicEvent({ type: "content_block_stop", index }),
  ].join("");
}

export function textBlock(index: number, ...pieces: string[]): string {
  return block(
    index,
    { type: "text", text: "" },
    pieces.map((text) => ({ type: "text_delta", text })),
  );
}

export function thinkingBlock(index: number, thinking: string, signature: string): string {
  return block(index, { type: "thinking", thinking: "", signature: "" }, [
    { type: "thinking_delta", thinking },
    { type: "signature_delta", signature },
  ]);
}

export function redactedBlock(index: number, data: string): string {
  return block(index, { type: "redacted_thinking", data }, []);
}

export function toolBlock(index: number, id: string, name: string, ...pieces: string[]): string {
  return block(
    index,
    { type: "tool_use", id, name, input: {} },
    pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  );
}

/** The events that end an answer. */
export function messageEnd(stopReason: string, usage: AnthropicUsage = { input_tokens: 10, output_tokens: 5 }): string {
  return anthropicEvent({ type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: null }, usage }) + anthropicEvent({ type: "message_stop" });
}

/** A whole answer of text. */
export function anthropicText(text: string): string {
  return messageStart() + textBlock(0, text) + messageEnd("end_turn");
}

/** The body of an error. */
export function anthropicError(type: string, message: string): object {
  return { type: "error", error: { type, message } };
}
