import { create } from "@bufbuild/protobuf";
import type { ErrorCode } from "@forge/protocol/common";
import type { WorkspaceChangeRecorded } from "@forge/protocol/event";
import type { ToolPreview } from "@forge/protocol/tool";
import { TaskSchema } from "@forge/protocol/worker";
import type { Outcome } from "@forge/worker";
import type { ToolDefinition } from "../tools/tool-definition.ts";
import { toolHandler } from "../tools/tool-handler.ts";
import type { PipelineOptions } from "../tools/tool-pipeline.ts";
import { type FakeTaskContext, type FakeTaskContextOptions, fakeTaskContext } from "./fake-task-context.ts";

/** What a test says of a call. */
export interface TestCall extends FakeTaskContextOptions {
  readonly sessionId?: string;
  readonly preview?: boolean;
  readonly previewed?: ToolPreview;
  readonly pipeline?: PipelineOptions;
}

/** A call's end, taken apart. */
export interface TestOutcome {
  readonly outcome: Outcome;
  readonly output: Record<string, unknown> | undefined;
  readonly error: { code: ErrorCode; message: string; reason: string; field: string | undefined } | undefined;
  readonly preview: ToolPreview | undefined;
  readonly changes: readonly WorkspaceChangeRecorded[];
  readonly context: FakeTaskContext;
}

/** Calls a tool as a worker does. */
export async function callTool<Arguments>(definition: ToolDefinition<Arguments>, args: unknown, call: TestCall = {}): Promise<TestOutcome> {
  const { sessionId = "", preview = false, previewed, pipeline, ...options } = call;
  const value = { tool: definition.name, argumentsJson: JSON.stringify(args), sessionId, preview, previewed };
  const context = fakeTaskContext(create(TaskSchema, { kind: { case: "tool", value } }), options);
  const outcome = await toolHandler(definition, pipeline).run(context);
  const result = outcome.case === "tool" && outcome.value.output !== undefined ? await context.fromValue(outcome.value.output) : undefined;
  const error = outcome.case === "failure" ? outcome.value.error : undefined;
  return {
    outcome,
    output: result === undefined ? undefined : (JSON.parse(result) as Record<string, unknown>),
    error: error === undefined ? undefined : { code: error.code, message: error.message, reason: error.reason, field: error.metadata.field },
    preview: outcome.case === "preview" ? outcome.value : undefined,
    changes: outcome.case === "tool" || outcome.case === "failure" || outcome.case === "cancelled" ? outcome.value.changes : [],
    context,
  };
}
