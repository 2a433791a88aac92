import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ToolStartedSchema } from "@forge/protocol/event";
import { CapabilityKind, CapabilitySchema, FunctionResultSchema } from "@forge/protocol/worker";
import type { TaskHandler } from "@forge/worker";
import { jsonProblem } from "@forge/worker/json-problem";
import type { FunctionDefinition } from "./definition.ts";
import { type CallOptions, perform } from "./perform.ts";

/** Serves a function as a worker's capability. */
export function functionHandler(definition: FunctionDefinition, { logger, graceMs }: CallOptions): TaskHandler {
  const { name } = definition;
  return {
    capability: create(CapabilitySchema, { kind: CapabilityKind.FUNCTION, name }),
    run: (context) =>
      perform(context, { name, logger, graceMs }, async (signal) => {
        const { kind, idempotencyKey, needsStart } = context.task;
        if (kind.case !== "function")
          throw ForgeError.validation("task", `a function was given a task of kind ${kind.case ?? "unknown"}`, { origin: "worker" });
        const { runId, stepId, attempt } = kind.value;
        const named = Object.entries(kind.value.input).map(async ([key, value]) => [key, JSON.parse(await context.fromValue(value)) as unknown] as const);
        const input = await definition.parse(Object.fromEntries(await Promise.all(named)));
        if (needsStart) await context.start({ case: "tool", value: create(ToolStartedSchema) });
        signal.throwIfAborted();
        const startedAt = performance.now();
        const result = await definition.run(input, {
          signal,
          logger,
          idempotencyKey,
          runId,
          stepId,
          attempt,
          heartbeat: () => context.heartbeat(),
        });
        const problem = jsonProblem(result);
        if (problem !== undefined)
          throw ForgeError.validation("result", `${name} returned what can't be stored: ${problem}`, { reason: "FUNCTION_RESULT", origin: "worker" });
        const output = await context.toValue(JSON.stringify(result));
        return { case: "function", value: create(FunctionResultSchema, { output, durationMs: BigInt(Math.round(performance.now() - startedAt)) }) };
      }),
  };
}
