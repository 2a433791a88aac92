import { toBinary } from "@bufbuild/protobuf";
import { OnError, type WorkflowDefinition, WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { END } from "./branch.ts";
import { invalidDefinition } from "./invalid-field.ts";
import { parseJson } from "./json.ts";
import { DECLARATIONS_MAX, DEFINITION_BYTES_MAX, STEPS_MAX } from "./limits.ts";
import { checkId, checkKey } from "./names.ts";
import { validateStep } from "./validate-step.ts";

const VERSION = /^v\d{1,9}(\.\d{1,9}){0,3}$/;

/**
 * Checks a definition as if nobody had before: ids, references, expressions, templates, bounds. Throws InvalidField with the field's name. A model override
 * stands for models that the steps leave out.
 */
export function validateDefinition(definition: WorkflowDefinition | undefined, modelOverride: string): WorkflowDefinition {
  if (definition === undefined) throw invalidDefinition("", "a definition is needed");
  if (definition.steps.length > STEPS_MAX) throw invalidDefinition("steps", `at most ${STEPS_MAX} steps, not ${definition.steps.length}`);
  if (toBinary(WorkflowDefinitionSchema, definition).length > DEFINITION_BYTES_MAX) {
    throw invalidDefinition("", `the definition takes more than ${DEFINITION_BYTES_MAX} bytes`);
  }
  checkId("id", "workflow", definition.id);
  if (!VERSION.test(definition.version)) throw invalidDefinition("version", "a version is v1, v2, ...");
  if (!Object.values(OnError).some((value) => value === definition.onError)) throw invalidDefinition("on_error", "on_error is FAIL_FAST or CONTINUE");
  const inputs = checkInputs(definition);
  if (definition.steps.length === 0) throw invalidDefinition("steps", "at least one step is needed");
  const stepIds = new Set<string>();
  for (const [index, step] of definition.steps.entries()) {
    checkId(`steps[${index}].id`, "step", step.id);
    if (step.id === END) throw invalidDefinition(`steps[${index}].id`, `the id "${END}" is what branches call the end: name the step otherwise`);
    if (stepIds.has(step.id)) throw invalidDefinition(`steps[${index}].id`, `there are two steps "${step.id}"`);
    stepIds.add(step.id);
  }
  for (const [index, step] of definition.steps.entries()) validateStep(`steps[${index}]`, step, { inputs, stepIds, modelOverride });
  return definition;
}

function checkInputs(definition: WorkflowDefinition): ReadonlySet<string> {
  if (definition.inputs.length > DECLARATIONS_MAX) throw invalidDefinition("inputs", `at most ${DECLARATIONS_MAX} inputs`);
  const names = new Set<string>();
  for (const [index, input] of definition.inputs.entries()) {
    const field = `inputs[${index}]`;
    checkKey(`${field}.name`, "input", input.name);
    if (names.has(input.name)) throw invalidDefinition(`${field}.name`, `there are two inputs "${input.name}"`);
    names.add(input.name);
    if (input.defaultJson === undefined) continue;
    const parsed = parseJson(input.defaultJson);
    if (!parsed.ok) throw invalidDefinition(`${field}.default_json`, `the default of "${input.name}" is ${parsed.message}`);
  }
  return names;
}
