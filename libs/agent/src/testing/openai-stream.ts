/** A piece of a message, as OpenAI streams it. */
export interface WireDelta {
  readonly role?: "assistant";
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly id?: string;
    readonly type?: "function";
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
}

/** Tokens as OpenAI counts them. */
export interface WireUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens: number };
  readonly completion_tokens_details?: { readonly reasoning_tokens: number };
}

const ENVELOPE = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "test-model-2024" };

/** One server-sent event. */
export function event(data: unknown, newline = "\n"): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}${newline}${newline}`;
}

/** An event with a piece of the answer. */
export function delta(piece: WireDelta, finishReason: string | null = null, newline = "\n"): string {
  return event({ ...ENVELOPE, choices: [{ index: 0, delta: piece, finish_reason: finishReason }] }, newline);
}

/** The events that end an answer: the finish reason, the usage in a chunk of its own, the marker. */
export function finish(reason: string, usage: WireUsage | undefined = { prompt_tokens: 10, completion_tokens: 5 }, newline = "\n"): string {
  const counted = usage ? event({ ...ENVELOPE, choices: [], usage }, newline) : "";
  return delta({}, reason, newline) + counted + event("[DONE]", newline);
}

/** A whole answer of text. */
export function textAnswer(text: string): string {
  return delta({ role: "assistant", content: "" }) + delta({ content: text }) + finish("stop");
}

/** A whole answer of one tool call. */
export function toolCallAnswer(id: string, name: string, argumentsJson: string): string {
  const call = { index: 0, id, type: "function" as const, function: { name, arguments: argumentsJson } };
  return delta({ role: "assistant", tool_calls: [call] }) + finish("tool_calls");
}
