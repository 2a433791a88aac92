import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ForgeError } from "@forge/protocol/common";
import type { ModelCompleted } from "@forge/protocol/event";
import { type MessageSchema, Role } from "@forge/protocol/session";
import type { Outcome } from "@forge/worker";
import { createModelHandlers } from "../model-handler.ts";
import { createProviderRegistry } from "../registry.ts";
import { createFakeContext, type FakeContext } from "./fake-context.ts";

type MessageInit = MessageInitShape<typeof MessageSchema>;

/** What the tests' requests are authorized with, and what must appear nowhere else. */
export const KEY = "test-key-do-not-show";

/** The clock of a provider's Retry-After dates. */
export const NOW = "Wed, 21 Oct 2015 07:28:00 GMT";

const TOOLS = [{ name: "tools.search", description: "Searches.", inputSchemaJson: '{"type":"object","properties":{"pattern":{"type":"string"}}}' }];

export function user(text: string): MessageInit {
  return { role: Role.USER, parts: [{ kind: { case: "text", value: { text } } }] };
}

/** A call of openai/test-model with one tool. */
export function contextWith(messages: MessageInit[] = [user("hi")], onReport?: () => void): FakeContext {
  return createFakeContext({ task: { model: "openai/test-model" }, conversation: { messages, system: "Be brief.", tools: TOOLS }, onReport });
}

/** Performs the call at this base URL, through the real provider package. */
export function runAt(baseUrl: string, context: FakeContext): Promise<Outcome> {
  const { providers } = createProviderRegistry({ env: { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: KEY } });
  const prices = { "openai/test-model": { input: 1_000_000, cached_input: 100_000, output: 10_000_000 } };
  const handlers = createModelHandlers({ providers, prices, nowMs: () => Date.parse(NOW) });
  const handler = handlers.find(({ capability }) => capability.name === "openai/*");
  if (!handler) throw new Error("There is no handler for openai.");
  return handler.run(context);
}

/** The answer's message; throws where the call ended otherwise. */
export function completedOf(outcome: Outcome): ModelCompleted {
  if (outcome.case === "model" && outcome.value.completed) return outcome.value.completed;
  throw new Error(`The call ended as ${outcome.case}: ${outcome.case === "failure" ? outcome.value.error?.message : ""}`);
}

/** The failure's error; throws where the call ended otherwise. */
export function failureOf(outcome: Outcome): { error: ForgeError; afterOutput: boolean } {
  if (outcome.case === "failure" && outcome.value.error) return { error: outcome.value.error, afterOutput: outcome.value.afterOutput };
  throw new Error(`The call ended as ${outcome.case}.`);
}
