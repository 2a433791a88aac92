import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ToolOutputDeltaSchema, ToolStartedSchema } from "@forge/protocol/event";
import { CapabilityKind, CapabilitySchema, ToolResultSchema, type ToolTask } from "@forge/protocol/worker";
import { readArguments, type TaskContext, type TaskHandler } from "@forge/worker";
import { jsonValueProblem } from "@forge/worker/json-problem";
import type { Logger, ToolContext } from "./context.ts";
import type { ToolDefinition } from "./definition.ts";
import { type CallOptions, perform } from "./perform.ts";

/** Serves a tool as a worker's capability. */
export function toolHandler(definition: ToolDefinition, { logger, graceMs }: CallOptions): TaskHandler {
  const { name, spec } = definition;
  const timeoutMs = spec.timeout === undefined ? undefined : durationMs(spec.timeout);
  return {
    capability: create(CapabilitySchema, { kind: CapabilityKind.TOOL, name, tool: spec }),
    run: (context) =>
      perform(context, { name, logger, timeoutMs, graceMs }, async (signal) => {
        const input = await definition.parse(await readArguments(context.task, context));
        // A non-idempotent effect never precedes the go-ahead.
        if (context.task.needsStart) await context.start({ case: "tool", value: create(ToolStartedSchema) });
        signal.throwIfAborted();
        const startedAt = performance.now();
        const result = (await definition.run(input, toolContext(context, signal, logger))) ?? null;
        const problem = jsonValueProblem(result);
        if (problem !== undefined)
          throw ForgeError.validation("result", `${name} returned what can't be kept: ${problem}`, { reason: "TOOL_RESULT", origin: "worker" });
        const output = await context.toValue(JSON.stringify(result));
        return { case: "tool", value: create(ToolResultSchema, { output, durationMs: BigInt(Math.round(performance.now() - startedAt)) }) };
      }),
  };
}

function toolContext(context: TaskContext, signal: AbortSignal, logger: Logger): ToolContext {
  // readArguments has refused every other task.
  const { toolCallId, sessionId, turnId, runId, stepId } = context.task.kind.value as ToolTask;
  // Characters, as the event counts them.
  let offset = 0n;
  return {
    signal,
    logger,
    idempotencyKey: context.task.idempotencyKey,
    toolCallId,
    ...(sessionId === "" ? {} : { sessionId, turnId }),
    ...(runId === "" ? {} : { runId, stepId }),
    heartbeat: () => context.heartbeat(),
    report: (text) => {
      if (text === "") return;
      context.report({ case: "tool", value: create(ToolOutputDeltaSchema, { offset, text: text.toWellFormed(), epoch: context.lease.epoch }) });
      offset += BigInt(text.length);
    },
  };
}
