import type { Value } from "@forge/protocol/common";
import { inlineValue } from "./json.ts";

/**
 * What a step.started keeps beside the declared inputs, under names that no input can have, because it is known only when the step is decided on and
 * needed when only the events are there: the rendered prompt of an agent step, and whether the tool of a tool step was served as idempotent.
 */
const PROMPT = "$prompt";
const IDEMPOTENT = "$idempotent";

type Input = Readonly<Record<string, Value>>;

export function withPrompt(input: Input, prompt: string): Record<string, Value> {
  return { ...input, [PROMPT]: inlineValue(JSON.stringify(prompt)) };
}

export function promptOf(input: Input): string {
  const kind = input[PROMPT]?.kind;
  if (kind?.case !== "json") throw new Error("an agent step was started without its prompt");
  return JSON.parse(kind.value) as string;
}

export function withIdempotent(input: Input, idempotent: boolean): Record<string, Value> {
  return idempotent ? { ...input, [IDEMPOTENT]: inlineValue("true") } : { ...input };
}

export function isIdempotentTool(input: Input): boolean {
  return input[IDEMPOTENT] !== undefined;
}

/** The inputs that the step declares. */
export function declaredInput(input: Input): Record<string, Value> {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !name.startsWith("$")));
}
