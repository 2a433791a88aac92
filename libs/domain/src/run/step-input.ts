import { create, type JsonValue } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, type Value, ValueSchema } from "@forge/protocol/common";
import type { InputSource, StepDefinition } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { isReservedName } from "../expression/names.ts";
import { parseStatePath, resolveStatePath, type StatePath } from "../state-path/state-path.ts";
import { renderTemplate } from "../template/render-template.ts";
import { allOf } from "./chunks.ts";
import { stepError } from "./errors.ts";
import { fitsInline, inlineBytes, inlineValue } from "./json.ts";
import { STEP_INPUT_BYTES_MAX, VALUE_BYTES_MAX } from "./limits.ts";
import { suggestion } from "./nearest.ts";
import { hasOutput, outputJson } from "./outputs.ts";
import { readsOfInput } from "./reads.ts";
import { failed, type Outcome, succeeded } from "./result.ts";
import { outputAt, runtimeOf, type StateView, stateView } from "./scope.ts";
import { positionOf, type RunState, stepAt } from "./state.ts";

type Input = Record<string, Value>;

/** Builds a step's input from the state; a step that maps none gets the whole state, but an agent's prompt looks into the state by itself. */
export function stepInput(state: RunState, position: number, context: Context, names: Names = {}): Outcome<Input> {
  const step = stepAt(state, position);
  const inputNames = Object.keys(step.inputs);
  if (inputNames.length === 0) return unmapped(state, step, names);
  const view = stateView(state, readsOfInput(step), context, step.id);
  if (!view.ok) return view;
  const input: Input = {};
  let bytes = 0;
  for (const name of inputNames) {
    const mapped = mapSource(state, view.value, step, name, step.inputs[name] as InputSource, names);
    if (!mapped.ok) return mapped;
    input[name] = mapped.value;
    bytes += inlineBytes(mapped.value);
  }
  return bytes <= STEP_INPUT_BYTES_MAX ? succeeded(input) : failed(inputError(step, `its inputs take more than ${STEP_INPUT_BYTES_MAX} bytes together`));
}

/** What a step gets that maps nothing: an item its item, another the whole state; but an agent looks into the state by itself, and a sub-run gets no inputs. */
function unmapped(state: RunState, step: StepDefinition, names: Names): Outcome<Input> {
  if (step.kind.case === "agent" || step.kind.case === "workflow") return succeeded({});
  if (step.forEach !== undefined) {
    const input: Input = {};
    for (const [name, value] of Object.entries(names)) {
      const mapped = inline(step, name, value);
      if (!mapped.ok) return mapped;
      input[name] = mapped.value;
    }
    return succeeded(input);
  }
  return wholeState(state, step);
}

/** Further names beside the state's: those of an item. */
export type Names = Readonly<Record<string, JsonValue>>;

/** The value of one source; `name` is what messages call it. */
export function mapSource(state: RunState, view: StateView, step: StepDefinition, name: string, { kind }: InputSource, names: Names = {}): Outcome<Value> {
  switch (kind.case) {
    case "literalJson":
      return succeeded(inlineValue(kind.value));
    case "template": {
      const rendered = renderTemplate(kind.value, { state: view, inputs: view.inputs, steps: view.steps, runtime: view.runtime, ...names });
      if (!rendered.ok)
        return failed(inputError(step, `input "${name}": ${rendered.error.message} (at character ${rendered.error.position + 1} of its template)`));
      return inline(step, name, rendered.value);
    }
    case "path": {
      const own = namedPath(kind.value, names);
      if (own !== undefined) return fromNames(step, name, own, names);
      const path = parseStatePath(kind.value);
      if (path === undefined) return failed(inputError(step, `input "${name}": "${kind.value}" is no path into the state`));
      return fromPath(state, view, step, name, path);
    }
    case undefined:
      return failed(inputError(step, `input "${name}" has no source`));
  }
}

/** A path whose first name is an item's. */
function namedPath(text: string, names: Names): readonly string[] | undefined {
  const path = text.split(".");
  return Object.hasOwn(names, path[0] as string) && !path.some(isReservedName) ? path : undefined;
}

function fromNames(step: StepDefinition, name: string, path: readonly string[], names: Names): Outcome<Value> {
  const resolved = resolveStatePath(path, names);
  if (resolved.found) return inline(step, name, resolved.value as JsonValue);
  return failed(
    inputError(step, `input "${name}" reads ${path.join(".")}, but ${path.slice(0, resolved.missing).join(".")} has no "${path[resolved.missing]}"`),
  );
}

function fromPath(state: RunState, view: StateView, step: StepDefinition, name: string, path: StatePath): Outcome<Value> {
  if (path[0] === "steps") {
    const source = path[1] as string;
    const position = positionOf(state, source);
    const output = position === undefined ? undefined : outputAt(state, position);
    if (output === undefined)
      return failed(inputError(step, `input "${name}" reads ${path.join(".")}, but step "${source}" has no output${hint(state, source)}`));
    // A whole output is handed on as it is, wherever it is kept.
    if (path.length === 2) {
      const whole = outputJson(output);
      return whole === undefined
        ? failed(inputError(step, `${tooLarge(name)}; the outputs of step "${source}"'s items are a list that must be read item by item`))
        : succeeded(whole);
    }
  }
  const resolved = resolveStatePath(path, view);
  if (!resolved.found) return failed(inputError(step, missingMessage(name, path, resolved.missing, view)));
  const json = JSON.stringify(resolved.value);
  if (fitsInline(json)) return succeeded(inlineValue(json));
  // It is larger than what stays inline, so that it can only lie within an artifact: the worker takes it from there.
  const [held, within] =
    path[0] === "steps" ? [outputAt(state, positionOf(state, path[1] as string) ?? -1)?.output, path.slice(2)] : [state.inputs, path.slice(1)];
  const artifact = path[0] === "runtime" ? undefined : held?.kind.case === "artifact" ? held.kind : undefined;
  if (artifact === undefined) return failed(inputError(step, tooLarge(name)));
  return succeeded(create(ValueSchema, { kind: artifact, path: [...within] }));
}

/** Why a step has no output: it does not exist, or it has not completed. */
function hint(state: RunState, source: string): string {
  if (positionOf(state, source) !== undefined) return ": it has not completed in this run";
  return suggestion(source, state.definition?.steps.map((step) => step.id) ?? []);
}

function missingMessage(name: string, path: StatePath, missing: number, view: StateView): string {
  const before = path.slice(0, missing);
  const key = path[missing] as string;
  const holder = resolveStatePath(before, view);
  const keys = holder.found && typeof holder.value === "object" && holder.value !== null && !Array.isArray(holder.value) ? Object.keys(holder.value) : [];
  return `input "${name}" reads ${path.join(".")}, but ${before.join(".")} has no "${key}"${suggestion(key, keys)}`;
}

function inline(step: StepDefinition, name: string, value: JsonValue): Outcome<Value> {
  const json = JSON.stringify(value);
  if (fitsInline(json)) return succeeded(inlineValue(json));
  return failed(inputError(step, tooLarge(name)));
}

function tooLarge(name: string): string {
  return `input "${name}" is larger than ${VALUE_BYTES_MAX} bytes; map an output or an input by its path to hand it on as an artifact`;
}

/** The state as one JSON object with the keys inputs, steps and runtime; each output's text is taken as it stands. */
function wholeState(state: RunState, step: StepDefinition): Outcome<Input> {
  const members: string[] = [];
  for (const [position, memory] of allOf(state.steps).entries()) {
    if (!hasOutput(memory)) continue;
    const { id } = stepAt(state, position);
    const output = outputJson(memory);
    if (output?.kind.case !== "json") return failed(stateTooLarge(step, `the output of step "${id}" is an artifact, or larger than ${VALUE_BYTES_MAX} bytes`));
    members.push(`${JSON.stringify(id)}:${output.kind.value}`);
  }
  const steps = `{${members.join(",")}}`;
  if (!fitsInline(steps)) return failed(stateTooLarge(step, `the steps' outputs take more than ${VALUE_BYTES_MAX} bytes`));
  return succeeded({ inputs: state.inputs ?? inlineValue("{}"), steps: inlineValue(steps), runtime: inlineValue(JSON.stringify(runtimeOf(state))) });
}

function stateTooLarge(step: StepDefinition, why: string): ForgeError {
  return inputError(step, `it maps no inputs and so gets the whole state, but ${why}; map the inputs that it needs`);
}

function inputError(step: StepDefinition, message: string): ForgeError {
  return stepError(ErrorCode.VALIDATION, "STEP_EXECUTION", step.id, message);
}
