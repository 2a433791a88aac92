import { Ajv2020 } from "ajv/dist/2020.js";

/** What a server asks a person, as it asks it. */
export interface Elicitation {
  readonly mode?: unknown;
  readonly message?: unknown;
  readonly requestedSchema?: unknown;
  readonly url?: unknown;
}

/** A person's answer as the server is told it. */
export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: Record<string, string | number | boolean | string[]> }
  | { readonly action: "decline" | "cancel" };

/** Instead of an answer: what was wrong with it. */
export interface AnswerProblem {
  readonly problem: string;
}

const QUESTION_MAX = 4096;
const FIELDS_SHOWN_MAX = 32;
const YES = new Set(["y", "yes", "ok", "true", "accept", "done"]);
const NO = new Set(["n", "no", "false"]);

/** The question in words: who asks, what, and how it is answered. `problem` is what was wrong with the answer before. At most 4,096 characters. */
export function questionOf(server: string, elicitation: Elicitation, problem?: string): string {
  const asked = `The MCP server ${server} asks: ${typeof elicitation.message === "string" ? elicitation.message : "(nothing)"}`;
  const lines = problem === undefined ? [asked] : [`${problem}.`, asked];
  const fields = fieldsOf(elicitation);
  if (elicitation.mode === "url") lines.push(`Open ${String(elicitation.url)} yourself, and answer "done" afterwards.`);
  else if (fields.length === 0) lines.push('Answer "yes" or "no".');
  else if (fields.length === 1) lines.push(`Answer with ${describeField(fields[0] as Field)}.`);
  else lines.push("Answer with a JSON object of:", ...fields.slice(0, FIELDS_SHOWN_MAX).map((field) => `- ${describeField(field)}`));
  lines.push('"/decline" declines.');
  // What comes last says how to answer, and stays.
  const text = lines.join("\n");
  return text.length <= QUESTION_MAX ? text : `${text.slice(0, QUESTION_MAX - 32)}…\n"/decline" declines.`;
}

/** What a person wrote, as an answer to what was asked. */
export function answerTo(elicitation: Elicitation, written: string): ElicitationAnswer | AnswerProblem {
  const text = written.trim();
  if (text === "/decline") return { action: "decline" };
  if (text === "/cancel") return { action: "cancel" };
  const fields = fieldsOf(elicitation);
  if (elicitation.mode === "url" || fields.length === 0) {
    if (YES.has(text.toLowerCase())) return elicitation.mode === "url" ? { action: "accept" } : { action: "accept", content: {} };
    return NO.has(text.toLowerCase()) ? { action: "decline" } : { problem: 'the answer must be "yes" or "no"' };
  }
  const content = contentOf(fields, text);
  if (content === undefined) return { problem: "the answer must be a JSON object" };
  const validate = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true }).compile(elicitation.requestedSchema as object);
  if (validate(content)) return { action: "accept", content: content as Record<string, string | number | boolean | string[]> };
  const [error] = validate.errors ?? [];
  return { problem: `the answer does not fit: ${error?.instancePath.slice(1) || "it"} ${error?.message ?? "is wrong"}` };
}

interface Field {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly required: boolean;
}

function fieldsOf({ requestedSchema }: Elicitation): Field[] {
  const { properties, required } = (requestedSchema ?? {}) as { readonly properties?: unknown; readonly required?: unknown };
  if (typeof properties !== "object" || properties === null) return [];
  const names = Array.isArray(required) ? (required as unknown[]) : [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: typeof schema === "object" && schema !== null ? (schema as Record<string, unknown>) : {},
    required: names.includes(name),
  }));
}

function describeField({ name, schema, required }: Field): string {
  const { type, title, description, enum: choices } = schema;
  const kind = Array.isArray(choices)
    ? `one of ${choices.slice(0, FIELDS_SHOWN_MAX).join(", ")}`
    : type === "boolean"
      ? "yes or no"
      : `a ${typeof type === "string" ? type : "value"}`;
  const about = [title, description].filter((text) => typeof text === "string" && text !== "").join(": ");
  return `${name} (${kind}${required ? "" : ", may be left out"})${about === "" ? "" : `: ${about}`}`;
}

/** A single field may be answered without writing JSON. */
function contentOf(fields: readonly Field[], text: string): Record<string, unknown> | undefined {
  const whole = objectIn(text);
  if (whole !== undefined) return whole;
  const [only, ...others] = fields;
  return only === undefined || others.length > 0 ? undefined : { [only.name]: valueIn(only, text) };
}

function valueIn({ schema }: Field, text: string): unknown {
  if (schema.type === "boolean") return YES.has(text.toLowerCase()) ? true : NO.has(text.toLowerCase()) ? false : text;
  if (schema.type === "number" || schema.type === "integer") return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
  return text;
}

function objectIn(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    // A text that happens to begin with a brace.
    return undefined;
  }
}
