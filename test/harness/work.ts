import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { commandHeader, type ForgeClient, followEvents, withRetry } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import type { AgentSpecSchema } from "@forge/protocol/session";
import { Decision, type ToolPolicySchema } from "@forge/protocol/tool";
import { OnError, type WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import type { CallArguments } from "./test-handlers.ts";

/** The longest that a test waits for anything. */
export const PATIENCE_MS = 30_000;

export const TOOLS = ["test.append", "test.again", "tools.shell"] as const;
export type ToolName = (typeof TOOLS)[number];

export interface SessionOptions {
  readonly commandId?: string;
  readonly agent?: MessageInitShape<typeof AgentSpecSchema>;
  readonly policy?: MessageInitShape<typeof ToolPolicySchema>;
}

/** A request for a session with the demo model and all tools, which it may use without asking. */
export function sessionRequest(options: SessionOptions = {}) {
  return {
    header: commandHeader(options.commandId),
    agent: { model: "demo/chat", tools: [...TOOLS], ...options.agent },
    policy: options.policy ?? { defaultDecision: Decision.ALLOW },
  };
}

export async function createSession(client: ForgeClient, options: SessionOptions = {}): Promise<string> {
  const request = sessionRequest(options);
  return (await onceServed(() => client.session.createSession(request))).sessionId;
}

/**
 * Retries what is lost on its way, and what is refused because the executor is away for longer than its lease: nobody serves the model then, until it has
 * joined again.
 */
async function onceServed<T>(call: () => Promise<T>): Promise<T> {
  const untilMs = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await withRetry(call, { patienceMs: PATIENCE_MS });
    } catch (error) {
      const isUnserved = error instanceof ForgeError && (error.reason === "MODEL_NOT_SERVED" || error.reason === "FUNCTION_NOT_SERVED");
      if (!isUnserved || Date.now() > untilMs) throw error;
      await delay(50);
    }
  }
}

/** A text part. */
export function say(text: string) {
  return { kind: { case: "text" as const, value: { text } } };
}

/** What makes the demo model call a tool, once. */
export function useTool(tool: ToolName, args: CallArguments | { readonly command: string }): string {
  return `use the ${tool} tool with ${JSON.stringify(args)}`;
}

export async function startTurn(client: ForgeClient, sessionId: string, text: string, commandId: string = randomUUID()): Promise<string> {
  const request = { header: commandHeader(commandId), sessionId, input: [say(text)] };
  return (await withRetry(() => client.session.startTurn(request))).turnId;
}

export function sessionStream(id: string) {
  return { kind: StreamKind.SESSION, id };
}

export function runStream(id: string) {
  return { kind: StreamKind.RUN, id };
}

type Stream = ReturnType<typeof sessionStream> | ReturnType<typeof runStream>;

/** An event's kind, and where it tells of a failure, which. */
function described(event: Event): string {
  const { value } = event.payload;
  const error = value !== undefined && "error" in value && typeof value.error === "object" ? value.error : undefined;
  return error === undefined ? event.kind : `${event.kind} (${error.message})`;
}

/** Follows a stream, over lost connections, until an event satisfies; answers all events up to it. */
export async function eventsUntil(
  client: ForgeClient,
  stream: Stream,
  isLast: (event: Event) => boolean,
  waitMs: number = PATIENCE_MS,
): Promise<readonly Event[]> {
  const signal = AbortSignal.timeout(waitMs);
  const events: Event[] = [];
  for await (const followed of followEvents(client, { streams: [{ stream }], signal })) {
    if (followed.kind !== "event") continue;
    events.push(followed.event);
    if (isLast(followed.event)) return events;
  }
  throw new Error(`the awaited event of stream ${stream.id} did not come within ${waitMs} ms; there were: ${events.map(described).join(", ")}`);
}

const TURN_ENDS: ReadonlySet<string> = new Set(["turn.completed", "turn.failed", "turn.cancelled", "turn.abandoned"]);
const RUN_ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);

/** The events of a session through the end of one of its turns. */
export function turnEnded(client: ForgeClient, sessionId: string, turnId: string): Promise<readonly Event[]> {
  return eventsUntil(client, sessionStream(sessionId), (event) => event.turnId === turnId && TURN_ENDS.has(event.kind));
}

/** The events of a run through its end. */
export function runEnded(client: ForgeClient, runId: string): Promise<readonly Event[]> {
  return eventsUntil(client, runStream(runId), (event) => RUN_ENDS.has(event.kind));
}

export function kindsOf(events: readonly Event[]): readonly string[] {
  return events.map((event) => event.kind);
}

/** Kinds without deltas, whose number depends on time. */
export function factsOf(events: readonly Event[]): readonly string[] {
  return kindsOf(events).filter((kind) => !kind.endsWith(".output_delta"));
}

/** A workflow of a function, a tool whose effect must not happen twice, and an agent. */
export function threeSteps(call: CallArguments = {}): MessageInitShape<typeof WorkflowDefinitionSchema> {
  const inputs = { call: { kind: { case: "literalJson" as const, value: JSON.stringify(call) } } };
  return {
    id: "three_steps",
    version: "v1",
    onError: OnError.FAIL_FAST,
    steps: [
      { id: "note", kind: { case: "function", value: { name: "test.note" } }, inputs },
      {
        id: "append",
        kind: { case: "tool", value: { tool: "test.append" } },
        inputs: Object.fromEntries(
          Object.entries(call).map(([name, value]) => [name, { kind: { case: "literalJson" as const, value: JSON.stringify(value) } }]),
        ),
      },
      { id: "say", kind: { case: "agent", value: { agent: { model: "demo/echo" }, prompt: "All done.", agentId: "sayer", agentVersion: "v1" } } },
    ],
  };
}

/** A graph: a list of functions, tools whose effect must not happen twice, a run inside, and a wait, as far as they can at the same time. */
export function wide(call: CallArguments = {}): MessageInitShape<typeof WorkflowDefinitionSchema> {
  const literal = (value: unknown) => ({ kind: { case: "literalJson" as const, value: JSON.stringify(value) } });
  const members = Object.fromEntries(Object.entries(call).map(([name, value]) => [name, literal(value)]));
  const append = (id: string, needs: string[] = []) => ({ id, kind: { case: "tool" as const, value: { tool: "test.append" } }, inputs: members, needs });
  return {
    id: "wide",
    version: "v1",
    onError: OnError.FAIL_FAST,
    steps: [
      append("left"),
      append("right"),
      {
        id: "each",
        kind: { case: "function", value: { name: "test.note" } },
        inputs: { call: literal(call) },
        needs: ["left"],
        forEach: { items: literal([1, 2, 3, 4, 5]), concurrency: 3 },
      },
      { id: "inner", kind: { case: "workflow", value: { definition: threeSteps(call) } }, needs: ["right"] },
      { id: "moment", kind: { case: "wait", value: { kind: { case: "duration", value: { nanos: 50_000_000 } } } }, needs: ["right"] },
      append("last", ["each", "inner", "moment"]),
    ],
  };
}

export async function startRun(
  client: ForgeClient,
  definition: MessageInitShape<typeof WorkflowDefinitionSchema>,
  commandId: string = randomUUID(),
): Promise<string> {
  const request = { header: commandHeader(commandId), definition, policy: { answer: Decision.ALLOW } };
  return (await onceServed(() => client.workflow.startRun(request))).runId;
}

/** Waits for a condition that no event tells of. */
export async function until(what: string, condition: () => Promise<boolean> | boolean, waitMs: number = PATIENCE_MS): Promise<void> {
  const untilMs = Date.now() + waitMs;
  while (!(await condition())) {
    if (Date.now() > untilMs) throw new Error(`not within ${waitMs} ms: ${what}`);
    await delay(20);
  }
}
