import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ForgeError, Usage } from "@forge/protocol/common";
import type { ModelCompleted } from "@forge/protocol/event";
import { type Message, MessageSchema, Role } from "@forge/protocol/session";
import type { Outcome } from "@forge/worker";
import { createModelHandlers, type ModelHandlerOptions } from "../model-handler.ts";
import { createProviderRegistry } from "../registry.ts";
import { createFakeContext, type FakeContext, type FakeContextOptions } from "./fake-context.ts";

export type MessageInit = MessageInitShape<typeof MessageSchema>;

/** What the tests' requests are authorized with, and what must appear nowhere else. */
export const KEY = "test-key-do-not-show";

/** The clock of a provider's Retry-After dates. */
export const NOW = "Wed, 21 Oct 2015 07:28:00 GMT";

const TOOLS = [{ name: "tools.search", description: "Searches.", inputSchemaJson: '{"type":"object","properties":{"pattern":{"type":"string"}}}' }];

export function user(text: string): MessageInit {
  return { role: Role.USER, parts: [{ kind: { case: "text", value: { text } } }] };
}

/** The answer as it joins the conversation: calls have our ids by then. */
export function joined(parts: Message["parts"]): Message {
  const message = create(MessageSchema, { role: Role.ASSISTANT, parts });
  for (const [index, part] of message.parts.entries()) if (part.kind.case === "toolCall") part.kind.value.toolCallId = `ours-${index}`;
  return message;
}

/** The results of an answer's calls. */
export function resultsOf(message: Message, output = "found"): MessageInit {
  const calls = message.parts.flatMap((part) => (part.kind.case === "toolCall" ? [part.kind.value] : []));
  const parts = calls.map(({ toolCallId, providerCallId, tool }) => ({
    kind: { case: "toolResult" as const, value: { toolCallId, providerCallId, tool, output } },
  }));
  return { role: Role.TOOL, parts };
}

/** A call of a model with one tool. */
export function callOf(model: string, messages: MessageInit[] = [user("hi")], options: Pick<FakeContextOptions, "onReport" | "task"> = {}): FakeContext {
  return createFakeContext({ ...options, task: { model, ...options.task }, conversation: { messages, system: "Be brief.", tools: TOOLS } });
}

/** Performs the call through the real provider package, in an environment of these variables. */
export function perform(env: Readonly<Record<string, string>>, context: FakeContext, options: Partial<ModelHandlerOptions> = {}): Promise<Outcome> {
  const { providers } = createProviderRegistry({ env });
  const handlers = createModelHandlers({ providers, nowMs: () => Date.parse(NOW), ...options });
  const { kind } = context.task;
  const model = kind.case === "model" || kind.case === "compaction" ? kind.value.model : "";
  const handler = handlers.find(({ capability }) => capability.name === `${model.split("/")[0]}/*`);
  if (!handler) throw new Error(`There is no handler for ${model}.`);
  return handler.run(context);
}

/** The answer's message; throws where the call ended otherwise. */
export function completedOf(outcome: Outcome): ModelCompleted {
  if (outcome.case === "model" && outcome.value.completed) return outcome.value.completed;
  throw new Error(`The call ended as ${outcome.case}: ${outcome.case === "failure" ? outcome.value.error?.message : ""}`);
}

export function usageOf(outcome: Outcome): Usage | undefined {
  return outcome.case === "model" ? outcome.value.usage : undefined;
}

/** The failure's error; throws where the call ended otherwise. */
export function failureOf(outcome: Outcome): { error: ForgeError; afterOutput: boolean } {
  if (outcome.case === "failure" && outcome.value.error) return { error: outcome.value.error, afterOutput: outcome.value.afterOutput };
  throw new Error(`The call ended as ${outcome.case}.`);
}

/** Everything that a call left behind, as text, to look for what must not be there. */
export function tracesOf(context: FakeContext, outcome: Outcome): string {
  return JSON.stringify([outcome, context.starts, context.deltas], (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}
