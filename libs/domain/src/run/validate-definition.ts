import { toBinary } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { OnError, type StepDefinition, type WorkflowDefinition, WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { parseTemplate, templateReferences } from "../template/template.ts";
import { END } from "./branch.ts";
import { invalidDefinition } from "./invalid-field.ts";
import { parseJson } from "./json.ts";
import { CONCURRENCY_LIMIT_MAX, DEADLINE_MS_MAX, DECLARATIONS_MAX, DEFINITION_BYTES_MAX, PARALLEL_MAX, PRIORITY_MAX, STEPS_MAX } from "./limits.ts";
import { checkId, checkKey } from "./names.ts";
import { suggestion } from "./nearest.ts";
import { validateGraph } from "./validate-graph.ts";
import { validateStep } from "./validate-step.ts";

const VERSION = /^v\d{1,9}(\.\d{1,9}){0,3}$/;

/**
 * Checks a definition as if nobody had before: ids, references, expressions, templates, bounds, and the workflows inside of it. Throws InvalidField with the
 * field's name. A model override stands for models that the steps leave out.
 */
export function validateDefinition(definition: WorkflowDefinition | undefined, modelOverride: string): WorkflowDefinition {
  if (definition === undefined) throw invalidDefinition("", "a definition is needed");
  if (toBinary(WorkflowDefinitionSchema, definition).length > DEFINITION_BYTES_MAX) {
    throw invalidDefinition("", `the definition takes more than ${DEFINITION_BYTES_MAX} bytes`);
  }
  validateAt("", definition, modelOverride, 0);
  return definition;
}

/** Checks a definition at a place in another one; the outermost is at none. */
function validateAt(place: string, definition: WorkflowDefinition, modelOverride: string, depth: number): void {
  const { steps } = definition;
  if (steps.length > STEPS_MAX) throw invalidDefinition(`${place}steps`, `at most ${STEPS_MAX} steps, not ${steps.length}`);
  checkId(`${place}id`, "workflow", definition.id);
  if (!VERSION.test(definition.version)) throw invalidDefinition(`${place}version`, "a version is v1, v2, ...");
  if (!Object.values(OnError).some((value) => value === definition.onError)) throw invalidDefinition(`${place}on_error`, "on_error is FAIL_FAST or CONTINUE");
  if (definition.parallelMax > PARALLEL_MAX)
    throw invalidDefinition(`${place}parallel_max`, `at most ${PARALLEL_MAX} steps at once, not ${definition.parallelMax}`);
  const deadlineMs = definition.deadline === undefined ? undefined : durationMs(definition.deadline);
  if (deadlineMs !== undefined && !(deadlineMs > 0 && deadlineMs <= DEADLINE_MS_MAX))
    throw invalidDefinition(`${place}deadline`, "a deadline is more than nothing and at most 366 days");
  const inputs = checkInputs(place, definition);
  checkConcurrency(place, definition, inputs);
  if (definition.priority > PRIORITY_MAX) throw invalidDefinition(`${place}priority`, `a priority is 0 to ${PRIORITY_MAX}`);
  if (steps.length === 0) throw invalidDefinition(`${place}steps`, "at least one step is needed");
  const stepIds = checkIds(place, steps);
  const nested = (field: string, inner: WorkflowDefinition): void => validateAt(`${field}.`, inner, modelOverride, depth + 1);
  for (const [index, step] of steps.entries()) validateStep(`${place}steps[${index}]`, step, { inputs, stepIds, modelOverride, depth }, nested);
  validateGraph(place, definition, stepIds);
}

/** The key is rendered before anything has run, so it can read inputs alone. */
function checkConcurrency(place: string, { concurrency }: WorkflowDefinition, inputs: ReadonlySet<string>): void {
  if (concurrency === undefined) return;
  const field = `${place}concurrency.key`;
  if (concurrency.key.trim() === "") throw invalidDefinition(field, 'a concurrency key says what runs share, for example "customer-{{ inputs.customer }}"');
  if (concurrency.limit > CONCURRENCY_LIMIT_MAX) throw invalidDefinition(`${place}concurrency.limit`, `at most ${CONCURRENCY_LIMIT_MAX} runs at a time`);
  const template = parseTemplate(concurrency.key);
  if (!template.ok) throw invalidDefinition(field, `the key can't be read: ${template.error.message} (at character ${template.error.position + 1})`);
  for (const { reference } of templateReferences(template.value)) {
    const [root, name] = reference;
    if (root?.name !== "inputs") throw invalidDefinition(field, `a concurrency key reads inputs alone, not "${root?.name}"`);
    if (name !== undefined && !inputs.has(name.name)) throw invalidDefinition(field, `there is no input "${name.name}"${suggestion(name.name, inputs)}`);
  }
}

function checkIds(place: string, steps: readonly StepDefinition[]): ReadonlySet<string> {
  const stepIds = new Set<string>();
  for (const [index, step] of steps.entries()) {
    const field = `${place}steps[${index}].id`;
    checkId(field, "step", step.id);
    if (step.id === END) throw invalidDefinition(field, `the id "${END}" is what branches call the end: name the step otherwise`);
    if (stepIds.has(step.id)) throw invalidDefinition(field, `there are two steps "${step.id}"`);
    stepIds.add(step.id);
  }
  return stepIds;
}

function checkInputs(place: string, definition: WorkflowDefinition): ReadonlySet<string> {
  if (definition.inputs.length > DECLARATIONS_MAX) throw invalidDefinition(`${place}inputs`, `at most ${DECLARATIONS_MAX} inputs`);
  const names = new Set<string>();
  for (const [index, input] of definition.inputs.entries()) {
    const field = `${place}inputs[${index}]`;
    checkKey(`${field}.name`, "input", input.name);
    if (names.has(input.name)) throw invalidDefinition(`${field}.name`, `there are two inputs "${input.name}"`);
    names.add(input.name);
    if (input.defaultJson === undefined) continue;
    const parsed = parseJson(input.defaultJson);
    if (!parsed.ok) throw invalidDefinition(`${field}.default_json`, `the default of "${input.name}" is ${parsed.message}`);
  }
  return names;
}
