import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { nowMs } from "./clock.ts";

/** What it answers to one request: a text, or calls of a tool without arguments. */
export type ScriptedAnswer =
  | { readonly kind: "calls"; readonly tool: string; readonly count: number }
  | {
      readonly kind: "text";
      /** Each in a write of its own. */
      readonly pieces: readonly string[];
      /** Resolves when the piece after the first may be written; absent: at once. */
      readonly afterFirst?: () => Promise<void>;
    };

/** One request and its answer, on the clock of `nowMs`. */
export interface Exchange {
  /** When the whole request was there. */
  readonly arrivedMs: number;
  /** Just before the first piece of the answer's content was written. */
  readonly firstPieceMs: number;
  /** Just before the end of the answer was written. */
  readonly endedMs: number;
}

const ENVELOPE = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1_700_000_000, model: "bench" };

/** A provider of OpenAI's wire format in this process, which answers by script as soon as it is asked, and writes down when. */
export class ScriptedProvider {
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))));
  });
  #answers: ScriptedAnswer[] = [];
  #exchanges: Exchange[] = [];
  #calls = 0;

  static async start(): Promise<ScriptedProvider> {
    const provider = new ScriptedProvider();
    await new Promise<void>((resolve) => provider.#server.listen(0, "127.0.0.1", resolve));
    return provider;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** The answers to the next requests. Throws where earlier ones were not asked for. */
  script(answers: readonly ScriptedAnswer[]): void {
    if (this.#answers.length > 0) throw new Error(`${this.#answers.length} answers of the provider were never asked for`);
    this.#answers = [...answers];
    this.#exchanges = [];
  }

  /** Since the last `script`, in order. */
  get exchanges(): readonly Exchange[] {
    return this.#exchanges;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    await new Promise<void>((resolve, reject) => request.once("end", resolve).once("error", reject));
    const arrivedMs = nowMs();
    const answer = this.#answers.shift();
    if (answer === undefined) {
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"no answer is scripted for this request"}}');
      return;
    }
    response.socket?.setNoDelay(true);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const contents = answer.kind === "text" ? answer.pieces.map((content) => ({ content })) : [{ tool_calls: this.#callsOf(answer) }];
    let firstPieceMs = 0;
    for (const [index, content] of contents.entries()) {
      if (index === 1 && answer.kind === "text") await answer.afterFirst?.();
      if (index === 0) firstPieceMs = nowMs();
      response.write(event({ index: 0, delta: { role: "assistant", ...content }, finish_reason: null }));
    }
    this.#exchanges.push({ arrivedMs, firstPieceMs, endedMs: nowMs() });
    const usage = `data: ${JSON.stringify({ ...ENVELOPE, choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } })}\n\n`;
    response.end(`${event({ index: 0, delta: {}, finish_reason: answer.kind === "text" ? "stop" : "tool_calls" })}${usage}data: [DONE]\n\n`);
  }

  #callsOf({ tool, count }: { readonly tool: string; readonly count: number }): readonly object[] {
    return Array.from({ length: count }, (_, index) => ({
      index,
      id: `call_${++this.#calls}`,
      type: "function",
      // No provider takes dots in names: Forge sends and reads them so.
      function: { name: tool.replaceAll(".", "__"), arguments: "{}" },
    }));
  }
}

function event(choice: object): string {
  return `data: ${JSON.stringify({ ...ENVELOPE, choices: [choice] })}\n\n`;
}
