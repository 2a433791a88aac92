import type { ToolCall } from "../tools/tool-definition.ts";
import type { Elicitation, ElicitationAnswer } from "./elicitation.ts";
import type { McpResult } from "./mcp-output.ts";

/** A call that runs in a server, also while nobody here waits for it. */
export class OpenCall {
  /** Where progress is shown; the call changes hands when it is resumed. */
  progress: ToolCall["progress"] = () => {};
  readonly #abort = new AbortController();
  readonly #end: Promise<{ readonly result: McpResult } | { readonly error: unknown }>;
  #asked = Promise.withResolvers<Elicitation>();
  #question: { readonly asked: Elicitation; readonly answer: (answer: ElicitationAnswer) => void } | undefined;

  constructor(start: (signal: AbortSignal, progress: ToolCall["progress"]) => Promise<McpResult>) {
    this.#end = start(this.#abort.signal, (message, fraction) => this.progress(message, fraction)).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
  }

  /** The question that waits for an answer, if one does. */
  get asked(): Elicitation | undefined {
    return this.#question?.asked;
  }

  /** Called for the server: resolves with what it is told. */
  ask(asked: Elicitation): Promise<ElicitationAnswer> {
    // One question at a time: people are asked one after the other.
    if (this.#question !== undefined) return Promise.resolve({ action: "cancel" });
    const answered = Promise.withResolvers<ElicitationAnswer>();
    this.#question = { asked, answer: answered.resolve };
    this.#asked.resolve(asked);
    return answered.promise;
  }

  answer(answer: ElicitationAnswer): void {
    this.#question?.answer(answer);
    this.#question = undefined;
    this.#asked = Promise.withResolvers();
  }

  abort(): void {
    this.#abort.abort();
  }

  /** The call's result, or the next question. Rejects with the call's error, and when the signal aborts: then the server was told to stop. */
  async next(signal: AbortSignal): Promise<{ readonly result: McpResult } | { readonly asked: Elicitation }> {
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => {
      this.abort();
      aborted.reject(new Error("aborted"));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      if (signal.aborted) onAbort();
      const next = await Promise.race([this.#end, this.#asked.promise.then((asked) => ({ asked })), aborted.promise]);
      if ("error" in next) throw next.error;
      return next;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }
}
