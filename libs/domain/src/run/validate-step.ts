import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Backoff, type RetryPolicy } from "@forge/protocol/common";
import { CreateSessionRequestSchema } from "@forge/protocol/session";
import type { AgentStep, InputSource, StepDefinition } from "@forge/protocol/workflow";
import { validateSession } from "../session/validate-session.ts";
import { parseStatePath } from "../state-path/state-path.ts";
import { parseTemplate } from "../template/template.ts";
import { isVisibleAscii } from "../text.ts";
import { END } from "./branch.ts";
import { conditionOf } from "./expressions.ts";
import { invalidDefinition } from "./invalid-field.ts";
import { fitsInline, parseJson } from "./json.ts";
import {
  ATTEMPTS_MAX,
  CAPABILITY_LENGTH_MAX,
  DECLARATIONS_MAX,
  NAME_LENGTH_MAX,
  RETRY_DELAY_MS_MAX,
  RULES_MAX,
  TIMEOUT_MS_MAX,
  VALUE_BYTES_MAX,
} from "./limits.ts";
import { checkKey } from "./names.ts";
import { suggestion } from "./nearest.ts";

/** What a step may refer to. */
export interface Referable {
  readonly inputs: ReadonlySet<string>;
  readonly stepIds: ReadonlySet<string>;
  readonly modelOverride: string;
}

/** Checks one step of a definition, `field` being its place in it. Throws InvalidField. */
export function validateStep(field: string, step: StepDefinition, known: Referable): void {
  checkWork(field, step, known);
  const inputs = Object.entries(step.inputs);
  if (inputs.length > DECLARATIONS_MAX) throw invalidDefinition(`${field}.inputs`, `at most ${DECLARATIONS_MAX} inputs`);
  for (const [name, source] of inputs) {
    checkKey(`${field}.inputs`, "input", name);
    checkSource(`${field}.inputs.${name}`, source, known);
  }
  checkOutputs(`${field}.outputs`, step.outputs);
  if (step.retry !== undefined) checkRetry(`${field}.retry`, step.retry);
  checkBranches(field, step, known);
  if (step.timeout === undefined) return;
  const timeoutMs = durationMs(step.timeout);
  if (!(timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX)) throw invalidDefinition(`${field}.timeout`, "a timeout is more than nothing and at most 7 days");
}

function checkWork(field: string, { id, kind }: StepDefinition, { modelOverride }: Referable): void {
  switch (kind.case) {
    case "agent":
      return checkAgent(`${field}.agent`, kind.value, modelOverride);
    case "function":
      return checkName(`${field}.function.name`, kind.value.name, CAPABILITY_LENGTH_MAX, "a function is named module.name");
    case "tool":
      return checkName(`${field}.tool.tool`, kind.value.tool, NAME_LENGTH_MAX, "a tool has a dotted name, for example tools.search");
    case undefined:
      throw invalidDefinition(field, `step "${id}" is neither an agent nor a function nor a tool`);
  }
}

function checkName(field: string, name: string, lengthMax: number, rule: string): void {
  if (name.length <= lengthMax && isVisibleAscii(name)) return;
  throw invalidDefinition(field, `${rule}, at most ${lengthMax} visible ASCII characters`);
}

/** The agent must be one that a session takes, so that its step can't fail for what was known before. */
function checkAgent(field: string, { agent, prompt }: AgentStep, modelOverride: string): void {
  if (agent === undefined) throw invalidDefinition(`${field}.agent`, "an agent step needs an agent: at least its model");
  const refused = validateSession(create(CreateSessionRequestSchema, { agent: { ...agent, model: modelOverride || agent.model } }));
  if (refused !== undefined) throw invalidDefinition(`${field}.${refused.rejection.metadata["field"] ?? "agent"}`, refused.rejection.message);
  if (prompt.trim() === "") throw invalidDefinition(`${field}.prompt`, "an agent step needs a prompt");
  checkTemplate(`${field}.prompt`, prompt);
}

function checkTemplate(field: string, text: string): void {
  const parsed = parseTemplate(text);
  if (!parsed.ok) throw invalidDefinition(field, `${parsed.error.message} (at character ${parsed.error.position + 1})`);
}

function checkSource(field: string, { kind }: InputSource, known: Referable): void {
  switch (kind.case) {
    case "literalJson": {
      const parsed = parseJson(kind.value);
      if (!parsed.ok) throw invalidDefinition(`${field}.literal_json`, `the literal is ${parsed.message}`);
      if (!fitsInline(kind.value)) throw invalidDefinition(`${field}.literal_json`, `a literal takes at most ${VALUE_BYTES_MAX} bytes`);
      return;
    }
    case "template":
      return checkTemplate(`${field}.template`, kind.value);
    case "path":
      return checkPath(`${field}.path`, kind.value, known);
    case undefined:
      throw invalidDefinition(field, "an input comes from a path, a literal or a template");
  }
}

function checkPath(field: string, text: string, known: Referable): void {
  const path = parseStatePath(text);
  if (path === undefined) throw invalidDefinition(field, `"${text.slice(0, 200)}" is no path into the state: it begins with inputs. or steps.`);
  const [root, name] = path as [string, string];
  const names = root === "inputs" ? known.inputs : known.stepIds;
  if (names.has(name)) return;
  throw invalidDefinition(field, `"${text}" names no ${root === "inputs" ? "input" : "step"} of this workflow${suggestion(name, names)}`);
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

function checkRetry(field: string, { attempts, backoff, initialDelay }: RetryPolicy): void {
  if (attempts < 1 || attempts > ATTEMPTS_MAX) throw invalidDefinition(`${field}.attempts`, `1 to ${ATTEMPTS_MAX} attempts, not ${attempts}`);
  if (!Object.values(Backoff).some((value) => value === backoff)) throw invalidDefinition(`${field}.backoff`, "a backoff is FIXED or EXPONENTIAL");
  const delayMs = initialDelay === undefined ? 0 : durationMs(initialDelay);
  if (!(delayMs >= 0 && delayMs <= RETRY_DELAY_MS_MAX)) throw invalidDefinition(`${field}.initial_delay`, "the first delay is at most 1 hour");
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
