import type { MessageInitShape } from "@bufbuild/protobuf";
import { commandHeader, type ForgeClient } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import { OnError, type StartRunRequestSchema } from "@forge/protocol/workflow";

export const STEPS = 10;

type Definition = NonNullable<MessageInitShape<typeof StartRunRequestSchema>["definition"]>;

/** Ten calls of a function that does nothing. */
export const FUNCTION_RUN: Definition = {
  id: "bench_functions",
  version: "v1",
  onError: OnError.FAIL_FAST,
  steps: Array.from({ length: STEPS }, (_, index) => ({ id: `step_${index}`, kind: { case: "function" as const, value: { name: "bench.nothing" } } })),
};

/** Ten calls of a tool with an effect, which must be told of before it happens. */
export const TOOL_RUN: Definition = {
  id: "bench_tools",
  version: "v1",
  onError: OnError.FAIL_FAST,
  steps: Array.from({ length: STEPS }, (_, index) => ({
    id: `step_${index}`,
    kind: { case: "tool" as const, value: { tool: "tools.file" } },
    inputs: {
      operation: { kind: { case: "literalJson" as const, value: '"write"' } },
      path: { kind: { case: "literalJson" as const, value: '"bench.txt"' } },
      content: { kind: { case: "literalJson" as const, value: '"x"' } },
    },
  })),
};

/** Whoever waits for a result does not ask for each step. */
const STEPS_LEFT_OUT = { excludeKinds: ["step.started", "step.completed"] };

/** Starts a run and resolves with its id when a subscriber is told that it has completed. */
export async function completeRun(client: ForgeClient, definition: Definition): Promise<string> {
  const { runId } = await client.workflow.startRun({ header: commandHeader(), definition });
  const stop = new AbortController();
  try {
    const request = { streams: [{ stream: { kind: StreamKind.RUN, id: runId } }], filter: STEPS_LEFT_OUT };
    for await (const { kind } of client.event.subscribeEvents(request, { signal: stop.signal })) {
      if (kind.case !== "event" || !/^run\.(?:completed|failed|cancelled)$/.test(kind.value.kind)) continue;
      if (kind.value.payload.case === "runCompleted") return runId;
      throw new Error(`run ${runId} ended as ${kind.value.kind}: ${JSON.stringify(kind.value.payload.value)}`);
    }
  } finally {
    stop.abort();
  }
  throw new Error(`the events of run ${runId} ended before it did`);
}
