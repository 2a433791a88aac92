import { createModelHandlers, createProviderRegistry } from "@forge/agent";
import { delta, finish, type OpenAiServer, type RecordedRequest, startOpenAiServer, streamReply, textAnswer } from "@forge/agent/testing";
import { createConnectClient } from "@forge/client";
import { RiskLevel } from "@forge/protocol/tool";
import { type JsonValue, toolHandler } from "@forge/tools";
import { startWorker, type TaskHandler } from "@forge/worker";
import type { World } from "../scenario.ts";

/** The model that a case's own executor serves; what it says is put into the provider's queue. */
export const SCRIPTED_MODEL = "openai/scripted";

/** An executor of a case's own, in this process, for the case's queue: its models answer by script, so that a case sees what a provider is sent. */
export interface OwnExecutor {
  readonly provider: OpenAiServer;
  /** What it would have logged. */
  readonly problems: readonly unknown[];
  /** As by kill -9: the control plane hears nothing more of it. */
  kill(): Promise<void>;
  /** Begins anew under the same name, as after a restart of its process. */
  start(): Promise<void>;
}

export interface OwnExecutorOptions {
  readonly tools?: readonly TaskHandler[];
  readonly apiKey?: string;
}

export async function startOwnExecutor(world: World, { tools = [], apiKey = "no-secret" }: OwnExecutorOptions = {}): Promise<OwnExecutor> {
  const provider = await startOpenAiServer();
  world.defer(() => provider.close());
  const { providers } = createProviderRegistry({ env: { OPENAI_BASE_URL: provider.baseUrl, OPENAI_API_KEY: apiKey } });
  const handlers = [...createModelHandlers({ providers }), ...tools];
  const problems: unknown[] = [];
  let end: (() => Promise<void>) | undefined;
  const executor: OwnExecutor = {
    provider,
    problems,
    kill: async () => {
      await end?.();
      end = undefined;
    },
    start: async () => {
      const port = createConnectClient({ url: world.urls[0] as string, token: world.workerToken });
      const worker = await startWorker({ port, name: world.queue, queues: [world.queue], handlers, slots: 16, onProblem: (error) => problems.push(error) });
      end = async () => {
        await port.close();
        await worker.stop();
      };
    },
  };
  world.defer(() => executor.kill());
  await executor.start();
  return executor;
}

/** A tool of a case's own, whose effect must not happen twice. */
export function ownTool(
  name: string,
  execute: (args: { readonly [key: string]: JsonValue }, signal: AbortSignal) => Promise<JsonValue>,
  risk = RiskLevel.CHANGE as RiskLevel,
): TaskHandler {
  return toolHandler<{ readonly [key: string]: JsonValue }>({
    name,
    description: "Does what the case wants.",
    inputSchema: { type: "object" },
    idempotent: false,
    risk,
    timeoutMs: 60_000,
    execute: (args, { signal }) => execute(args, signal),
  });
}

/** A model's answer that calls a tool so many times at once; call n has the id `call-n`. */
export function callsOf(tool: string, count: number) {
  const toolCalls = Array.from({ length: count }, (_, index) => ({
    index,
    id: `call-${index + 1}`,
    type: "function" as const,
    function: { name: tool.replace(".", "__"), arguments: JSON.stringify({ number: index + 1 }) },
  }));
  return streamReply([delta({ role: "assistant", tool_calls: toolCalls }), finish("tool_calls")]);
}

/** A model's answer that calls one tool. */
export function callsTool(tool: string, args: object) {
  const call = { index: 0, id: "call-1", type: "function" as const, function: { name: tool.replace(".", "__"), arguments: JSON.stringify(args) } };
  return streamReply([delta({ role: "assistant", tool_calls: [call] }), finish("tool_calls")]);
}

export function saysOf(text: string) {
  return streamReply([textAnswer(text)]);
}

/** A message as OpenAI is sent it. */
export interface WireMessage {
  readonly role: string;
  readonly content?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** The conversation in a request to the provider. */
export function messagesIn(request: RecordedRequest | undefined): readonly WireMessage[] {
  return (request?.body["messages"] ?? []) as readonly WireMessage[];
}
