import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { AgentSpec } from "@forge/protocol/session";
import { CreateSessionRequestSchema } from "@forge/protocol/session";
import type { AgentStep, StepDefinition, WaitStep, WorkflowDefinition, WorkflowStep } from "@forge/protocol/workflow";
import { isReservedName } from "../expression/names.ts";
import { validateSession } from "../session/validate-session.ts";
import { isStorable, isVisibleAscii } from "../text.ts";
import { invalidDefinition } from "./invalid-field.ts";
import { CAPABILITY_LENGTH_MAX, NAME_LENGTH_MAX, RUN_DEPTH_MAX, WAIT_MS_MAX } from "./limits.ts";
import { suggestion } from "./nearest.ts";
import { checkSource, checkTemplate, type Referable } from "./validate-source.ts";
import { withModel } from "./with-model.ts";

const VARIANTS_MAX = 16;
const VARIANT_NAME_LENGTH_MAX = 256;
const WEIGHT_MAX = 1_000_000;

/** Checks what a step does; `nested` checks a workflow inside of it. Throws InvalidField. */
export function validateWork(field: string, step: StepDefinition, known: Referable, nested: (field: string, definition: WorkflowDefinition) => void): void {
  const { id, kind } = step;
  switch (kind.case) {
    case "agent":
      return checkAgent(`${field}.agent`, kind.value, known.modelOverride);
    case "function":
      return checkName(`${field}.function.name`, kind.value.name, CAPABILITY_LENGTH_MAX, "a function is named module.name");
    case "tool":
      return checkName(`${field}.tool.tool`, kind.value.tool, NAME_LENGTH_MAX, "a tool has a dotted name, for example tools.search");
    case "wait":
      return checkWait(field, step, kind.value, known);
    case "workflow":
      return checkWorkflow(field, step, kind.value, known, nested);
    case undefined:
      throw invalidDefinition(field, `step "${id}" is neither an agent nor a function nor a tool nor a wait nor a workflow`);
  }
}

function checkName(field: string, name: string, lengthMax: number, rule: string): void {
  if (name.length <= lengthMax && isVisibleAscii(name)) return;
  throw invalidDefinition(field, `${rule}, at most ${lengthMax} visible ASCII characters`);
}

/** The agent must be one that a session takes, so that its step can't fail for what was known before. */
function checkAgent(field: string, step: AgentStep, modelOverride: string): void {
  const { agent, prompt, outputKey } = step;
  if (agent === undefined) throw invalidDefinition(`${field}.agent`, "an agent step needs an agent: at least its model");
  const refused = validateSession(create(CreateSessionRequestSchema, { agent: withModel(agent, modelOverride) }));
  if (refused !== undefined) throw invalidDefinition(`${field}.${refused.rejection.metadata["field"] ?? "agent"}`, refused.rejection.message);
  if (prompt.trim() === "") throw invalidDefinition(`${field}.prompt`, "an agent step needs a prompt");
  checkTemplate(`${field}.prompt`, prompt);
  if (outputKey.length > NAME_LENGTH_MAX || !isStorable(outputKey) || isReservedName(outputKey)) {
    throw invalidDefinition(`${field}.output_key`, `an output's key has at most ${NAME_LENGTH_MAX} characters without NUL`);
  }
  checkVariants(field, step, agent);
}

function checkVariants(field: string, { variants }: AgentStep, agent: AgentSpec): void {
  if (variants.length > VARIANTS_MAX) throw invalidDefinition(`${field}.variants`, `at most ${VARIANTS_MAX} variants`);
  const names = new Set<string>();
  for (const [index, { name, weight, prompt, system }] of variants.entries()) {
    const place = `${field}.variants[${index}]`;
    if (name === "" || name.length > VARIANT_NAME_LENGTH_MAX || !isStorable(name)) throw invalidDefinition(`${place}.name`, "a variant needs a name");
    if (names.has(name)) throw invalidDefinition(`${place}.name`, `there are two variants "${name}"`);
    names.add(name);
    if (!(weight > 0 && weight <= WEIGHT_MAX)) throw invalidDefinition(`${place}.weight`, `a weight is more than 0 and at most ${WEIGHT_MAX}`);
    if (prompt.trim() === "") throw invalidDefinition(`${place}.prompt`, "a variant needs a prompt");
    checkTemplate(`${place}.prompt`, prompt);
    const refused = validateSession(create(CreateSessionRequestSchema, { agent: { ...agent, model: agent.model || "any/model", system } }));
    if (refused !== undefined) throw invalidDefinition(`${place}.system`, refused.rejection.message);
  }
}

function checkWait(field: string, step: StepDefinition, { kind }: WaitStep, known: Referable): void {
  if (step.forEach !== undefined) throw invalidDefinition(`${field}.for_each`, `step "${step.id}" waits: a wait has no for_each`);
  if (step.retry !== undefined) throw invalidDefinition(`${field}.retry`, `step "${step.id}" waits: a wait is not tried again`);
  if (Object.keys(step.inputs).length > 0) throw invalidDefinition(`${field}.inputs`, `step "${step.id}" waits: a wait has no inputs`);
  switch (kind.case) {
    case "duration": {
      const ms = durationMs(kind.value);
      if (!(ms > 0 && ms <= WAIT_MS_MAX)) throw invalidDefinition(`${field}.wait.duration`, "a wait is longer than nothing and at most 366 days");
      return checkNoTimeout(field, step);
    }
    case "until":
      checkSource(`${field}.wait.until`, kind.value, known);
      return checkNoTimeout(field, step);
    case "signal":
      if (kind.value.trim() !== "" && kind.value.length <= NAME_LENGTH_MAX && isStorable(kind.value)) return;
      throw invalidDefinition(`${field}.wait.signal`, `a signal's name has 1 to ${NAME_LENGTH_MAX} characters without NUL`);
    case "approval":
      if (kind.value.question.trim() === "") throw invalidDefinition(`${field}.wait.approval.question`, "an approval needs a question");
      return checkTemplate(`${field}.wait.approval.question`, kind.value.question);
    case undefined:
      throw invalidDefinition(`${field}.wait`, `step "${step.id}" waits for nothing: name a duration, a time, a signal or an approval`);
  }
}

/** A wait for a time ends by itself. */
function checkNoTimeout(field: string, { id, timeout }: StepDefinition): void {
  if (timeout !== undefined) throw invalidDefinition(`${field}.timeout`, `step "${id}" waits for a time, which needs no timeout`);
}

function checkWorkflow(
  field: string,
  step: StepDefinition,
  { definition }: WorkflowStep,
  known: Referable,
  nested: (field: string, definition: WorkflowDefinition) => void,
): void {
  if (definition === undefined) throw invalidDefinition(`${field}.workflow.definition`, "a workflow step needs the definition of the other workflow, whole");
  if (known.depth >= RUN_DEPTH_MAX) throw invalidDefinition(`${field}.workflow.definition`, `workflows are nested at most ${RUN_DEPTH_MAX} deep`);
  nested(`${field}.workflow.definition`, definition);
  const declared = new Set(definition.inputs.map(({ name }) => name));
  for (const name of Object.keys(step.inputs)) {
    if (!declared.has(name))
      throw invalidDefinition(`${field}.inputs.${name}`, `the workflow "${definition.id}" has no input "${name}"${suggestion(name, declared)}`);
  }
  const missing = definition.inputs.find(({ name, required, defaultJson }) => required && defaultJson === undefined && !Object.hasOwn(step.inputs, name));
  if (missing !== undefined) throw invalidDefinition(`${field}.inputs`, `the workflow "${definition.id}" requires the input "${missing.name}"`);
}
