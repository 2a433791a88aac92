import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { ToolOutputDeltaSchema, ToolStartedSchema } from "@forge/protocol/event";
import { CapabilityKind, CapabilitySchema, ToolResultSchema, type ToolTask } from "@forge/protocol/worker";
import { readArguments, type TaskContext, type TaskHandler } from "@forge/worker";
import { jsonValueProblem } from "@forge/worker/json-problem";
import type { Logger, ToolContext } from "./context.ts";
import type { ToolDefinition } from "./definition.ts";
import { type CallOptions, perform } from "./perform.ts";
import { requireFacts, toolPreview } from "./preview.ts";
import { UserNotes } from "./user-notes.ts";

/** Serves a tool as a worker's capability. */
export function toolHandler(definition: ToolDefinition, { logger, graceMs }: CallOptions): TaskHandler {
  const { name, spec } = definition;
  const timeoutMs = spec.timeout === undefined ? undefined : durationMs(spec.timeout);
  return {
    capability: create(CapabilitySchema, { kind: CapabilityKind.TOOL, name, tool: spec }),
    run: (context) =>
      perform(context, { name, logger, timeoutMs, graceMs }, async (signal) => {
        const args = await readArguments(context.task, context);
        const { preview, previewed } = context.task.kind.value as ToolTask;
        const input = await definition.parse(args);
        if (preview) {
          if (definition.preview === undefined)
            throw new ForgeError(ErrorCode.UNSUPPORTED, `${name} can't tell beforehand what a call does`, { reason: "NO_PREVIEW", origin: "tool" });
          const told = await definition.preview(input, toolContext(context, signal, logger));
          return { case: "preview", value: await toolPreview(name, spec.risk, told, context) };
        }
        // A non-idempotent effect never precedes the go-ahead.
        if (context.task.needsStart) await context.start({ case: "tool", value: create(ToolStartedSchema) });
        signal.throwIfAborted();
        const startedAt = performance.now();
        const call = toolContext(context, signal, logger);
        if (previewed !== undefined && definition.preview !== undefined) {
          // Parsed anew: what a preview does to its input is not what `run` gets.
          requireFacts(name, previewed, await definition.preview(await definition.parse(args), call));
          signal.throwIfAborted();
        }
        const result = (await definition.run(input, call)) ?? null;
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
  const { toolCallId, sessionId, turnId, runId, stepId, providedInputs, resumeJson } = context.task.kind.value as ToolTask;
  const notes = new UserNotes(context);
  // Characters, as the event counts them.
  let offset = 0n;
  return {
    signal,
    logger,
    idempotencyKey: context.task.idempotencyKey,
    toolCallId,
    ...(sessionId === "" ? {} : { sessionId, turnId }),
    ...(runId === "" ? {} : { runId, stepId }),
    inputs: providedInputs,
    resume: resumeJson === "" ? undefined : (JSON.parse(resumeJson) as unknown),
    heartbeat: () => context.heartbeat(),
    progress: (message, fraction) => notes.progress(message, fraction),
    structured: (type, value) => notes.structured(type, value),
    report: (text) => {
      if (text === "") return;
      context.report({ case: "tool", value: create(ToolOutputDeltaSchema, { offset, text: text.toWellFormed(), epoch: context.lease.epoch }) });
      offset += BigInt(text.length);
    },
  };
}
