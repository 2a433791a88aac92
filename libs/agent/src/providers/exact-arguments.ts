import { randomUUID } from "node:crypto";
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";

/**
 * Takes tool-call arguments through a provider package unharmed. Packages for wire formats whose arguments are a JSON object parse the text and write it anew,
 * which changes numbers (1.50, integers beyond 2^53), the order of keys and spaces. So the package is given a stand-in, and the body that it
 * wrote gets the text in its place. The stand-in's name is random and never leaves the process.
 */
export class ExactArguments {
  readonly #name = `arguments-${randomUUID()}`;
  readonly #texts: string[] = [];

  /** The prompt with stand-ins. Inputs must be the text of JSON objects. */
  hide(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
    return prompt.map((message) =>
      message.role === "assistant"
        ? { ...message, content: message.content.map((part) => (part.type === "tool-call" ? { ...part, input: this.#standIn(part.input) } : part)) }
        : message,
    );
  }

  /** The request's body with the texts. */
  restore(body: string): string {
    return body.replaceAll(new RegExp(`\\{"${this.#name}":(\\d+)\\}`, "g"), (_, index: string) => this.#texts[Number(index)] ?? "{}");
  }

  #standIn(input: unknown): Record<string, number> {
    this.#texts.push(typeof input === "string" ? input : JSON.stringify(input));
    return { [this.#name]: this.#texts.length - 1 };
  }
}
