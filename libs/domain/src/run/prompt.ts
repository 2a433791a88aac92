import type { JsonValue } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, type Value } from "@forge/protocol/common";
import type { AgentStep, StepDefinition } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { renderTemplate } from "../template/render-template.ts";
import { utf8Length } from "../text.ts";
import { stepError } from "./errors.ts";
import { fitsInline, readValue } from "./json.ts";
import { PROMPT_BYTES_MAX } from "./limits.ts";
import { readsOfInput } from "./reads.ts";
import { failed, type Outcome, succeeded } from "./result.ts";
import { stateView } from "./scope.ts";
import type { RunState } from "./state.ts";
import type { Names } from "./step-input.ts";

/** Renders an agent step's user message over `inputs` (the step's; the whole state where it maps none) and `state`. */
export function renderPrompt(
  state: RunState,
  step: StepDefinition,
  agent: AgentStep,
  input: Readonly<Record<string, Value>>,
  context: Context,
  names: Names = {},
): Outcome<string> {
  const view = stateView(state, readsOfInput(step), context, step.id);
  if (!view.ok) return view;
  const whole: JsonValue = { ...view.value };
  const inputs = Object.keys(step.inputs).length === 0 ? succeeded(whole) : readInputs(step, input, context);
  if (!inputs.ok) return inputs;
  const rendered = renderTemplate(agent.prompt, { ...names, inputs: inputs.value, state: whole });
  if (!rendered.ok) return failed(promptError(step, `its prompt can't be rendered: ${rendered.error.message} (at character ${rendered.error.position + 1})`));
  const { value } = rendered;
  if (utf8Length(value) > PROMPT_BYTES_MAX || !fitsInline(JSON.stringify(value))) {
    return failed(promptError(step, `its prompt is larger than ${PROMPT_BYTES_MAX} bytes; shorten what it is given, or let the agent read it with a tool`));
  }
  return rendered;
}

function readInputs(step: StepDefinition, input: Readonly<Record<string, Value>>, context: Context): Outcome<JsonValue> {
  const inputs: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(input)) {
    const parsed = readValue(value, context);
    if (!parsed.ok) return failed(promptError(step, `input "${name}" can't be read: ${parsed.message}`));
    inputs[name] = parsed.value;
  }
  return succeeded(inputs);
}

function promptError(step: StepDefinition, message: string): ForgeError {
  return stepError(ErrorCode.VALIDATION, "STEP_EXECUTION", step.id, message);
}
