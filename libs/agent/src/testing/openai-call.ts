import type { Outcome } from "@forge/worker";
import type { FakeContext } from "./fake-context.ts";
import { callOf, KEY, type MessageInit, perform, user } from "./provider-call.ts";

export { completedOf, failureOf, KEY, user } from "./provider-call.ts";

/** A call of openai/test-model with one tool. */
export function contextWith(messages: MessageInit[] = [user("hi")], onReport?: () => void): FakeContext {
  return callOf("openai/test-model", messages, { onReport });
}

/** Performs the call at this base URL. */
export function runAt(baseUrl: string, context: FakeContext): Promise<Outcome> {
  const prices = { "openai/test-model": { input: 1_000_000, cached_input: 100_000, output: 10_000_000 } };
  return perform({ OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: KEY }, context, { prices });
}
