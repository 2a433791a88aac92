import type { StepDefinition } from "@forge/protocol/workflow";
import { type CompiledSchema, compileJsonSchema } from "../json-schema/json-schema.ts";
import { parseJson } from "./json.ts";

const compiledOf = new WeakMap<StepDefinition, CompiledSchema>();

/** The schema of a step's output, compiled once per definition in memory. */
export function outputSchemaOf(step: StepDefinition): CompiledSchema {
  let compiled = compiledOf.get(step);
  if (compiled === undefined) {
    const schema = parseJson(step.outputSchemaJson);
    compiled = schema.ok ? compileJsonSchema(schema.value) : { ok: false, error: { path: [], message: `the schema is ${schema.message}` } };
    compiledOf.set(step, compiled);
  }
  return compiled;
}
