import type { JSONSchema7, JSONSchema7Definition } from "@ai-sdk/provider";

/** Deeper schemas get null. */
const DEPTH_MAX = 16;

function text(schema: JSONSchema7, said: string): string {
  const padded = said.padEnd(schema.minLength ?? 0, ".");
  return padded.slice(0, schema.maxLength ?? padded.length);
}

function number(schema: JSONSchema7): number {
  const least = schema.minimum ?? (schema.exclusiveMinimum === undefined ? 0 : schema.exclusiveMinimum + 1);
  return Math.min(least, schema.maximum ?? least);
}

function object(schema: JSONSchema7, said: string, depth: number): Record<string, unknown> {
  const names = schema.required ?? [];
  return Object.fromEntries(names.map((name: string) => [name, instanceOf(schema.properties?.[name] ?? {}, said, depth + 1)]));
}

function array(schema: JSONSchema7, said: string, depth: number): unknown[] {
  const item = Array.isArray(schema.items) ? schema.items[0] : schema.items;
  return Array.from({ length: Math.min(schema.minItems ?? 0, 100) }, () => instanceOf(item ?? {}, said, depth + 1));
}

/** The plainest value that a schema allows, with what is to be said in its texts. Of conditions and patterns it knows nothing. */
export function instanceOf(definition: JSONSchema7Definition, said: string, depth = 0): unknown {
  if (typeof definition === "boolean" || depth > DEPTH_MAX) return null;
  if (definition.const !== undefined) return definition.const;
  if (definition.default !== undefined) return definition.default;
  if (definition.enum?.length) return definition.enum[0];
  const [choice] = definition.anyOf ?? definition.oneOf ?? [];
  if (choice !== undefined) return instanceOf(choice, said, depth + 1);
  const type = Array.isArray(definition.type) ? definition.type[0] : (definition.type ?? (definition.properties ? "object" : "string"));
  switch (type) {
    case "object":
      return object(definition, said, depth);
    case "array":
      return array(definition, said, depth);
    case "string":
      return text(definition, said);
    case "integer":
    case "number":
      return number(definition);
    case "boolean":
      return false;
    default:
      return null;
  }
}
