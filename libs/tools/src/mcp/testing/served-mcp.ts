import { create } from "@bufbuild/protobuf";
import type { ErrorCode } from "@forge/protocol/common";
import type { ToolPreview } from "@forge/protocol/tool";
import { type Task, TaskSchema, type ToolTask, ToolTaskSchema } from "@forge/protocol/worker";
import type { Outcome, TaskHandler } from "@forge/worker";
import { createSecretSource } from "../../secrets/secret-source.ts";
import { type FakeTaskContext, fakeTaskContext } from "../../testing/fake-task-context.ts";
import { createMcpTools, type McpTools, type McpToolsOptions } from "../create-mcp-tools.ts";
import { parseMcpConfig } from "../mcp-config.ts";

/** Tools of servers that a test has started. */
export interface ServedMcp {
  readonly tools: McpTools;
  readonly changes: () => number;
  readonly handler: (name: string) => TaskHandler;
}

/** Starts the servers of a configuration, and waits until each was tried. */
export async function serveMcp(servers: Record<string, object>, options: Pick<McpToolsOptions, "workspace"> & Partial<McpToolsOptions>): Promise<ServedMcp> {
  let changes = 0;
  const tools = createMcpTools({
    config: parseMcpConfig(JSON.stringify({ mcpServers: servers }), ".mcp.json"),
    environment: { ...process.env, OPENAI_API_KEY: "sk-do-not-tell", MY_TOKEN: "token-to-scrub" },
    allowedVariables: ["MY_TOKEN"],
    secrets: createSecretSource({ environment: { FORGE_SECRET_KNOWN: "s3cret-value" } }),
    ...options,
  });
  tools.onChange(() => changes++);
  await tools.ready;
  const handler = (name: string): TaskHandler => {
    const found = tools.handlers().find(({ capability }) => capability.name === name);
    if (found === undefined) throw new Error(`${name} is not served: ${JSON.stringify(tools.problems())}`);
    return found;
  };
  return { tools, changes: () => changes, handler };
}

function task(tool: Partial<ToolTask>): Task {
  const value = create(ToolTaskSchema, { toolCallId: "call-1", argumentsJson: "{}", ...tool } as Partial<ToolTask> & { $typeName?: never });
  return create(TaskSchema, { kind: { case: "tool", value }, idempotencyKey: "key-1" });
}

export async function call(
  handler: TaskHandler,
  args: object = {},
  more: Partial<ToolTask> = {},
  signal?: AbortSignal,
): Promise<{ outcome: Outcome; context: FakeTaskContext }> {
  const context = fakeTaskContext(task({ argumentsJson: JSON.stringify(args), ...more }), { signal });
  return { outcome: await handler.run(context), context };
}

export async function answer(handler: TaskHandler, args: object = {}, more: Partial<ToolTask> = {}): Promise<unknown> {
  const { outcome, context } = await call(handler, args, more);
  if (outcome.case !== "tool" || outcome.value.output === undefined)
    throw new Error(`the call ended as ${JSON.stringify(outcome, (_key, value) => (typeof value === "bigint" ? Number(value) : value))}`);
  return JSON.parse(await context.fromValue(outcome.value.output));
}

export function errorOf(outcome: Outcome): { code: ErrorCode | undefined; reason: string; message: string; unknown: boolean } {
  if (outcome.case !== "failure") throw new Error(`the call ended as ${outcome.case}`);
  const { error, unknown } = outcome.value;
  return { code: error?.code, reason: error?.reason ?? "", message: error?.message ?? "", unknown };
}

export async function preview(handler: TaskHandler, args: object): Promise<ToolPreview> {
  const { outcome } = await call(handler, args, { preview: true });
  if (outcome.case !== "preview") throw new Error(`the preview ended as ${JSON.stringify(outcome.value)}`);
  return outcome.value;
}
