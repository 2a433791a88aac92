import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, type Value } from "@forge/protocol/common";
import type { StepDefinition } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { stepError } from "./errors.ts";
import { fitsInline, inlineValue, type Parsed, parseJson, readValue } from "./json.ts";
import { VALUE_BYTES_MAX } from "./limits.ts";
import { suggestion } from "./nearest.ts";
import { outputSchemaOf } from "./output-schema.ts";
import { failed, type Outcome, succeeded } from "./result.ts";

/** Checks what a function or tool returned against the step's contract. An artifact whose keys nobody declared is passed on unread. */
export function checkOutput(step: StepDefinition, output: Value | undefined, context: Context): Outcome<Value> {
  if (output === undefined || output.kind.case === undefined) return checkOutput(step, inlineValue("null"), context);
  if (output.kind.case === "artifact" && !hasContract(step)) return succeeded(output);
  if (output.kind.case === "json" && !fitsInline(output.kind.value)) {
    return failed(outputError(step, `the output is larger than ${VALUE_BYTES_MAX} bytes and was not stored as an artifact`));
  }
  const parsed = readValue(output, context);
  if (!parsed.ok) return failed(outputError(step, `the output can't be read: ${parsed.message}`));
  const error = contractError(step, parsed.value);
  return error === undefined ? succeeded(output) : failed(error);
}

/**
 * An agent step's output from the text of its last answer (a JSON string): with declared outputs, the text itself is an object with exactly these keys,
 * a fence around it tolerated; without, it is the object in a fence of a final answer, or else {"text": ...}.
 */
export function agentOutput(step: StepDefinition, text: Value | undefined, context: Context): Outcome<Value> {
  const read = readText(text, context);
  if (!read.ok) return failed(outputError(step, `the agent's answer can't be read: ${read.message}`));
  if (typeof read.value !== "string") return failed(outputError(step, "the agent's answer is not a text"));
  const key = (step.kind.case === "agent" ? step.kind.value.outputKey : "") || "text";
  if (!hasContract(step)) {
    const marked = markedAnswer(read.value);
    const given = marked === undefined ? undefined : parseJson(marked);
    return smallOutput(step, given?.ok === true && isObject(given.value) ? given.value : { [key]: read.value });
  }
  const parsed = parseJson(withoutFence(read.value));
  // The step asks for nothing but the text, under the agent's own name for it.
  const isText =
    !(parsed.ok && isObject(parsed.value)) && key !== "text" && step.outputs.length === 1 && step.outputs[0] === key && step.outputSchemaJson === "";
  if (isText) return smallOutput(step, { [key]: read.value });
  if (!parsed.ok) {
    return failed(outputError(step, `the agent's answer is ${parsed.message}; ${demand(step)}`));
  }
  const error = contractError(step, parsed.value);
  return error === undefined ? smallOutput(step, parsed.value) : failed(error);
}

/** An answer that was too long to stay inline may have been stored as the plain text that it is. */
function readText(text: Value | undefined, context: Context): Parsed {
  if (text === undefined) return { ok: true, value: "" };
  const plain = text.kind.case === "artifact" && text.kind.value.mediaType !== "application/json" ? context.artifact(text.kind.value.sha256) : undefined;
  return plain === undefined ? readValue(text, context) : { ok: true, value: plain };
}

/** What is made of an answer stays inline: only workers write artifacts. */
function smallOutput(step: StepDefinition, value: JsonValue): Outcome<Value> {
  const json = JSON.stringify(value);
  if (fitsInline(json)) return succeeded(inlineValue(json));
  return failed(outputError(step, `the agent's answer is larger than ${VALUE_BYTES_MAX} bytes; let it write long results to a file and answer with the path`));
}

/** A fence of this name marks the answer, whatever the model said around it. */
const FINAL_ANSWER = "```final_answer";

/** The text inside the last fence of a final answer; undefined where there is none. */
function markedAnswer(text: string): string | undefined {
  const opening = text.lastIndexOf(FINAL_ANSWER);
  const closing = opening === -1 ? -1 : text.indexOf("```", opening + FINAL_ANSWER.length);
  return closing === -1 ? undefined : text.slice(opening + FINAL_ANSWER.length, closing).trim();
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The text inside the last fence of a final answer, or inside a surrounding ``` or ```json fence; any other text as it is. */
function withoutFence(text: string): string {
  const trimmed = text.trim();
  const marked = markedAnswer(trimmed);
  if (marked !== undefined) return marked;
  if (!trimmed.startsWith("```") || !trimmed.endsWith("```")) return trimmed;
  const lineEnd = trimmed.indexOf("\n");
  if (lineEnd === -1) return trimmed;
  const language = trimmed.slice(3, lineEnd).trim().toLowerCase();
  return language === "" || language === "json" ? trimmed.slice(lineEnd + 1, -3) : trimmed;
}

/** Whether a step says what its output must be like. */
export function hasContract(step: StepDefinition): boolean {
  return step.outputs.length > 0 || step.outputSchemaJson !== "";
}

function demand({ outputs }: StepDefinition): string {
  return outputs.length > 0
    ? `the step declares outputs, so it must be a JSON object with the keys ${keyList(outputs)}`
    : "the step has an output schema, so it must be JSON";
}

function contractError(step: StepDefinition, value: JsonValue): ForgeError | undefined {
  return keysError(step, value) ?? schemaError(step, value);
}

/** Where the value is another than the schema says, for example `items.0.price must be number`. */
function schemaError(step: StepDefinition, value: JsonValue): ForgeError | undefined {
  if (step.outputSchemaJson === "") return undefined;
  const compiled = outputSchemaOf(step);
  const problem = compiled.ok ? compiled.check(value) : `can't be checked: ${compiled.error.message}`;
  return problem === undefined ? undefined : outputError(step, `the output does not satisfy the step's schema: ${problem}`);
}

function keysError(step: StepDefinition, value: JsonValue): ForgeError | undefined {
  if (step.outputs.length === 0) return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return outputError(step, `the output must be an object with the keys ${keyList(step.outputs)}`);
  }
  const declared = new Set(step.outputs);
  const keys = Object.keys(value);
  const missing = step.outputs.filter((key) => !Object.hasOwn(value, key));
  const undeclared = keys.filter((key) => !declared.has(key));
  if (missing.length === 0 && undeclared.length === 0) return undefined;
  const complaints: string[] = [];
  if (missing.length > 0) complaints.push(`lacks ${keyList(missing)}`);
  if (undeclared.length > 0) complaints.push(`has undeclared ${keyList(undeclared)}${suggestion(undeclared[0] as string, missing)}`);
  return outputError(step, `the output ${complaints.join(" and ")}; the step declares ${keyList(step.outputs)}`);
}

/** Names at most so many keys in a message. */
const LISTED_KEYS_MAX = 20;

function keyList(keys: readonly string[]): string {
  const listed = keys.slice(0, LISTED_KEYS_MAX).map((key) => `"${key}"`);
  return listed.join(", ") + (keys.length > LISTED_KEYS_MAX ? `, and ${keys.length - LISTED_KEYS_MAX} more` : "");
}

function outputError(step: StepDefinition, message: string): ForgeError {
  return stepError(ErrorCode.VALIDATION, "STEP_EXECUTION", step.id, message);
}
