import { durationMs } from "@bufbuild/protobuf/wkt";
import { Backoff, type RetryPolicy } from "@forge/protocol/common";
import type { StepDefinition, WorkflowDefinition } from "@forge/protocol/workflow";
import { compileJsonSchema } from "../json-schema/json-schema.ts";
import { utf8Length } from "../text.ts";
import { END } from "./branch.ts";
import { conditionOf } from "./expressions.ts";
import { invalidDefinition } from "./invalid-field.ts";
import { parseJson } from "./json.ts";
import { ATTEMPTS_MAX, DECLARATIONS_MAX, OUTPUT_SCHEMA_BYTES_MAX, RETRY_DELAY_MS_MAX, RULES_MAX, TIMEOUT_MS_MAX, WAIT_MS_MAX } from "./limits.ts";
import { checkKey } from "./names.ts";
import { suggestion } from "./nearest.ts";
import { itemNames, validateForEach } from "./validate-for-each.ts";
import { checkSource, type Referable } from "./validate-source.ts";
import { validateWork } from "./validate-work.ts";

/** Checks one step of a definition, `field` being its place in it; `nested` checks a workflow that lies in a step. Throws InvalidField. */
export function validateStep(field: string, step: StepDefinition, known: Referable, nested: (field: string, definition: WorkflowDefinition) => void): void {
  validateWork(field, step, known, nested);
  const inputs = Object.entries(step.inputs);
  if (inputs.length > DECLARATIONS_MAX) throw invalidDefinition(`${field}.inputs`, `at most ${DECLARATIONS_MAX} inputs`);
  const names = itemNames(step.forEach);
  for (const [name, source] of inputs) {
    checkKey(`${field}.inputs`, "input", name);
    checkSource(`${field}.inputs.${name}`, source, known, names);
  }
  checkOutputs(`${field}.outputs`, step.outputs);
  if (step.retry !== undefined) checkRetry(`${field}.retry`, step.retry);
  checkBranches(field, step, known);
  if (step.forEach !== undefined) validateForEach(`${field}.for_each`, step.forEach, known);
  checkTimes(field, step);
  checkOutputSchema(`${field}.output_schema_json`, step.outputSchemaJson);
}

function checkTimes(field: string, { id, kind, timeout, heartbeatTimeout }: StepDefinition): void {
  // A person and another run may take longer than anything that a worker holds.
  const [max, days] = kind.case === "wait" || kind.case === "workflow" ? [WAIT_MS_MAX, 366] : [TIMEOUT_MS_MAX, 7];
  if (timeout !== undefined && !isWithin(durationMs(timeout), max))
    throw invalidDefinition(`${field}.timeout`, `a timeout is more than nothing and at most ${days} days`);
  if (heartbeatTimeout === undefined) return;
  if (kind.case !== "function" && kind.case !== "tool")
    throw invalidDefinition(`${field}.heartbeat_timeout`, `step "${id}" is neither a function nor a tool, so no worker speaks of it`);
  if (!isWithin(durationMs(heartbeatTimeout), TIMEOUT_MS_MAX))
    throw invalidDefinition(`${field}.heartbeat_timeout`, "a heartbeat timeout is more than nothing and at most 7 days");
}

function isWithin(ms: number, max: number): boolean {
  return ms > 0 && ms <= max;
}

function checkOutputSchema(field: string, text: string): void {
  if (text === "") return;
  if (utf8Length(text) > OUTPUT_SCHEMA_BYTES_MAX) throw invalidDefinition(field, `a schema takes at most ${OUTPUT_SCHEMA_BYTES_MAX} bytes`);
  const parsed = parseJson(text);
  if (!parsed.ok) throw invalidDefinition(field, `the schema is ${parsed.message}`);
  const compiled = compileJsonSchema(parsed.value);
  if (compiled.ok) return;
  const { path, message } = compiled.error;
  throw invalidDefinition(field, `no JSON Schema (2020-12): ${path.length === 0 ? "" : `at ${path.join(".").slice(0, 200)}: `}${message}`);
}

function checkOutputs(field: string, outputs: readonly string[]): void {
  if (outputs.length > DECLARATIONS_MAX) throw invalidDefinition(field, `at most ${DECLARATIONS_MAX} outputs`);
  const names = new Set<string>();
  for (const [index, name] of outputs.entries()) {
    checkKey(`${field}[${index}]`, "output", name);
    if (names.has(name)) throw invalidDefinition(`${field}[${index}]`, `there are two outputs "${name}"`);
    names.add(name);
  }
}

function checkRetry(field: string, { attempts, backoff, initialDelay, jitter }: RetryPolicy): void {
  if (attempts < 1 || attempts > ATTEMPTS_MAX) throw invalidDefinition(`${field}.attempts`, `1 to ${ATTEMPTS_MAX} attempts, not ${attempts}`);
  if (!Object.values(Backoff).some((value) => value === backoff)) throw invalidDefinition(`${field}.backoff`, "a backoff is FIXED or EXPONENTIAL");
  const delayMs = initialDelay === undefined ? 0 : durationMs(initialDelay);
  if (!(delayMs >= 0 && delayMs <= RETRY_DELAY_MS_MAX)) throw invalidDefinition(`${field}.initial_delay`, "the first delay is at most 1 hour");
  if (!(jitter >= 0 && jitter <= 1)) throw invalidDefinition(`${field}.jitter`, "a jitter is 0 to 1: the part of the delay by which it may be longer");
}

function checkBranches(field: string, step: StepDefinition, { stepIds }: Referable): void {
  if (step.next.length > RULES_MAX) throw invalidDefinition(`${field}.next`, `at most ${RULES_MAX} rules`);
  for (const [index, rule] of step.next.entries()) {
    const parsed = conditionOf(rule);
    if (!parsed.ok) throw invalidDefinition(`${field}.next[${index}].when`, `${parsed.error.message} (at character ${parsed.error.position + 1})`);
    checkTarget(`${field}.next[${index}].goto`, rule.goto, stepIds);
  }
  if (step.nextDefault !== undefined) checkTarget(`${field}.next_default`, step.nextDefault, stepIds);
}

function checkTarget(field: string, target: string, stepIds: ReadonlySet<string>): void {
  if (target === END || stepIds.has(target)) return;
  throw invalidDefinition(field, `there is no step "${target.slice(0, 200)}"${suggestion(target, [...stepIds, END])}`);
}
