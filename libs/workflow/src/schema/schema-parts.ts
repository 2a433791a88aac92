import type { JsonObject } from "@bufbuild/protobuf";

export const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** A text that must be there. */
export function text(description: string, maxLength: number, pattern?: string): JsonObject {
  return { type: "string", minLength: 1, maxLength, ...(pattern === undefined ? {} : { pattern }), description };
}

/** An id of a workflow, a step or an agent. */
export function id(description: string): JsonObject {
  return text(description, 128, "^[A-Za-z0-9_-]+$");
}

/** Seconds, or a text with its unit. */
export function duration(description: string): JsonObject {
  return {
    anyOf: [
      { type: "number", minimum: 0 },
      { type: "string", pattern: "^\\d{1,9}(\\.\\d{1,6})?\\s*(ms|s|m|h|d)$" },
    ],
    description,
  };
}

/** v1, v2, v1.2; a number as well. */
export function version(description: string): JsonObject {
  return {
    anyOf: [
      { type: "number", minimum: 0 },
      { type: "string", pattern: "^\\s*[vV]?\\d{1,9}(\\.\\d{1,9}){0,3}\\s*$" },
    ],
    description,
  };
}

export function wholeNumber(description: string, minimum: number, maximum: number): JsonObject {
  return { type: "integer", minimum, maximum, description };
}

/** A mapping of these keys and no others. */
export function mapping(description: string, properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: "object", description, properties, additionalProperties: false, ...(required.length === 0 ? {} : { required: [...required] }) };
}

/** Names that stand in paths into the state, each once. */
export function names(description: string): JsonObject {
  return { type: "array", items: { type: "string", maxLength: 128, pattern: KEY }, uniqueItems: true, maxItems: 1000, description };
}

export const KEY = "^[\\p{L}_][\\p{L}\\p{N}_-]*$";

/** What must hold where a condition does, and where it does not. */
export function conditional(condition: JsonObject, consequence: JsonObject, otherwise?: JsonObject): JsonObject {
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema; nobody awaits it.
  return { if: condition, then: consequence, ...(otherwise === undefined ? {} : { else: otherwise }) };
}
