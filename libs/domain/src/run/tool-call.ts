import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, type Value } from "@forge/protocol/common";
import { type CapabilityDecision, CapabilityDecisionSchema, Decision, type ToolSpec } from "@forge/protocol/tool";
import type { StepDefinition } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { toolDigest } from "../tool-policy.ts";
import { stepError } from "./errors.ts";
import { fitsInline } from "./json.ts";
import { VALUE_BYTES_MAX } from "./limits.ts";
import { suggestion } from "./nearest.ts";
import { failed, type Outcome, succeeded } from "./result.ts";
import type { RunState } from "./state.ts";

/** The tool as it is served now, or why the step can't call it. */
export function servedTool(state: RunState, step: StepDefinition, tool: string, context: Context): Outcome<ToolSpec> {
  const served = context.tools(state.queue);
  const spec = served.find((candidate) => candidate.name === tool);
  if (spec !== undefined) return succeeded(spec);
  const names = served.map((candidate) => candidate.name);
  return failed(
    toolError(ErrorCode.NOT_FOUND, "TOOL_NOT_FOUND", step, `no worker of queue "${state.queue}" serves the tool "${tool}"${suggestion(tool, names)}`),
  );
}

/** The arguments as one JSON object; what lives in the artifact store goes with the task beside it. */
export function toolArguments(step: StepDefinition, input: Readonly<Record<string, Value>>): Outcome<string> {
  const members = Object.entries(input).flatMap(([name, { kind }]) => (kind.case === "json" ? [`${JSON.stringify(name)}:${kind.value}`] : []));
  const json = `{${members.join(",")}}`;
  if (fitsInline(json)) return succeeded(json);
  return failed(toolError(ErrorCode.VALIDATION, "STEP_EXECUTION", step, `the tool's arguments take more than ${VALUE_BYTES_MAX} bytes`));
}

/** Of a tool step's input, what is not in its arguments. */
export function artifactInputs(input: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(input).filter(([, { kind }]) => kind.case === "artifact"));
}

/** A workflow's own tool steps are granted by whoever starts the run. */
export function grant(state: RunState, step: StepDefinition, tool: ToolSpec, argumentsJson: string, context: Context): CapabilityDecision {
  return create(CapabilityDecisionSchema, {
    decision: Decision.ALLOW,
    subject: `run:${state.runId}/${step.id}`,
    tool: tool.name,
    toolDigest: toolDigest(context, tool),
    argumentsDigest: context.sha256(argumentsJson),
    source: "run-grant",
    decidedBy: state.startedBy,
  });
}

function toolError(code: ErrorCode, reason: string, step: StepDefinition, message: string): ForgeError {
  return stepError(code, reason, step.id, message);
}
