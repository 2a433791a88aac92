import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ToolSpecSchema } from "@forge/protocol/tool";
import { CapabilityKind, CapabilitySchema } from "@forge/protocol/worker";
import type { TaskHandler } from "@forge/worker";
import type { ToolDefinition } from "./tool-definition.ts";
import { type PipelineOptions, toolPipeline } from "./tool-pipeline.ts";

/** Serves a tool as a worker's capability. */
export function toolHandler<Arguments>(definition: ToolDefinition<Arguments>, options: PipelineOptions = {}): TaskHandler {
  const { name, description, idempotent, risk } = definition;
  const pipeline = toolPipeline(definition, options);
  return {
    capability: create(CapabilitySchema, {
      kind: CapabilityKind.TOOL,
      name,
      tool: create(ToolSpecSchema, {
        name,
        description,
        inputSchemaJson: JSON.stringify(definition.inputSchema),
        idempotent,
        risk,
        timeout: durationFromMs(definition.timeoutMs),
        previews: definition.preview !== undefined,
        category: definition.category,
        sourceDigest: definition.sourceDigest,
      }),
    }),
    run: (context) => pipeline({ context, signal: context.signal, args: {}, startedAt: performance.now(), changes: [] }),
  };
}
