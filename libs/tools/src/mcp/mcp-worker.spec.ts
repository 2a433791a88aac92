import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  CapabilityKind,
  CapabilitySchema,
  DrainResponseSchema,
  HeartbeatResponseSchema,
  type LeasedTask,
  LeasedTaskSchema,
  LeaseTasksResponseSchema,
  RegisterResponseSchema,
  SettleTasksResponseSchema,
  TaskAnswerSchema,
  ToolResultSchema,
} from "@forge/protocol/worker";
import type { ControlPlanePort, TaskHandler } from "@forge/worker";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type McpWorker, startMcpWorker } from "./mcp-worker.ts";

/** What joined, by its tools; tasks that are handed out once; what was settled. */
function controlPlane() {
  const joined: string[][] = [];
  const settled: string[] = [];
  const tasks: LeasedTask[] = [];
  const untilAborted = (signal?: AbortSignal) => new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
  const worker = {
    async register({ capabilities }: { capabilities: { name: string }[] }) {
      joined.push(capabilities.map(({ name }) => name));
      return create(RegisterResponseSchema, { workerSessionId: `session-${joined.length}`, heartbeatInterval: durationFromMs(20) });
    },
    async leaseTasks(_request: unknown, options?: { signal?: AbortSignal }) {
      if (tasks.length === 0)
        await Promise.race([untilAborted(options?.signal), vi.waitFor(() => expect(tasks).not.toEqual([]), { timeout: 5000 }).catch(() => {})]);
      return create(LeaseTasksResponseSchema, { tasks: options?.signal?.aborted ? [] : tasks.splice(0) });
    },
    heartbeat: async () => create(HeartbeatResponseSchema),
    drain: async () => create(DrainResponseSchema),
    async settleTasks({ settlements }: { settlements: { lease?: { taskId: string }; outcome: { case?: string } }[] }) {
      settled.push(...settlements.map(({ lease, outcome }) => `${lease?.taskId} ${outcome.case}`));
      return create(SettleTasksResponseSchema, { answers: settlements.map(({ lease }) => create(TaskAnswerSchema, { taskId: lease?.taskId })) });
    },
  };
  return { joined, settled, tasks, port: { worker, session: {}, artifact: {} } as unknown as ControlPlanePort };
}

function toolList() {
  const listeners = new Set<() => void>();
  let handlers: readonly TaskHandler[] = [];
  return {
    handlers: () => handlers,
    onChange: (listener: () => void) => (listeners.add(listener), () => listeners.delete(listener)),
    become(next: readonly TaskHandler[]) {
      handlers = next;
      for (const listener of listeners) listener();
    },
  };
}

function tool(name: string, run: TaskHandler["run"] = async () => ({ case: "tool", value: create(ToolResultSchema) })): TaskHandler {
  return { capability: create(CapabilitySchema, { kind: CapabilityKind.TOOL, name, tool: { name } }), run };
}

const workers: McpWorker[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
});

async function start(tools: ReturnType<typeof toolList>, port: ControlPlanePort): Promise<McpWorker> {
  const worker = await startMcpWorker({
    port,
    name: "mcp",
    queues: ["q"],
    tools,
    slots: 4,
    onProblem: (error) => {
      throw error;
    },
  });
  workers.push(worker);
  return worker;
}

describe("startMcpWorker", () => {
  it("joins with the first tools that there are, and anew with what they are later, the last one gone included", async () => {
    const { port, joined } = controlPlane();
    const tools = toolList();
    await start(tools, port);
    expect(joined).toEqual([]);
    tools.become([tool("mcp.a.one")]);
    await vi.waitFor(() => expect(joined).toEqual([["mcp.a.one"]]));
    tools.become([tool("mcp.a.two")]);
    tools.become([]);
    await vi.waitFor(() => expect(joined.at(-1)).toEqual([]));
  });

  it("lets a call that runs end before it joins with another list", async () => {
    const { port, joined, settled, tasks } = controlPlane();
    const tools = toolList();
    const going = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    tools.become([
      tool("mcp.a.slow", async () => {
        begun.resolve();
        await going.promise;
        return { case: "tool", value: create(ToolResultSchema) };
      }),
    ]);
    await start(tools, port);
    tasks.push(create(LeasedTaskSchema, { taskId: "task-1", epoch: 1, task: { kind: { case: "tool", value: { tool: "mcp.a.slow" } } } }));
    await begun.promise;
    tools.become([tool("mcp.a.other")]);
    expect(joined).toEqual([["mcp.a.slow"]]);
    going.resolve();
    await vi.waitFor(() => expect(joined).toEqual([["mcp.a.slow"], ["mcp.a.other"]]));
    expect(settled).toEqual(["task-1 tool"]);
  });
});
