import type { JsonValue } from "@bufbuild/protobuf";
import type { AgentSpec } from "@forge/protocol/session";
import { compileJsonSchema } from "../json-schema/json-schema.ts";
import { shorten, utf8Length } from "../text.ts";

const SCHEMA_BYTES_MAX = 16_384;
/** Of what is wrong with an answer, for the model. */
const PROBLEM_MAX = 1_000;

/** What is wrong with an agent's schema; undefined where there is none, or all is well. */
export function outputSchemaProblem({ outputSchemaJson }: AgentSpec): string | undefined {
  if (outputSchemaJson === "") return undefined;
  if (utf8Length(outputSchemaJson) > SCHEMA_BYTES_MAX) return "An output schema has at most 16 KiB.";
  const schema = parsed(outputSchemaJson);
  if (schema === undefined) return "An output schema is JSON text.";
  const compiled = compileJsonSchema(schema);
  if (compiled.ok) return undefined;
  const where = compiled.error.path.length === 0 ? "" : ` at ${compiled.error.path.join(".")}`;
  return `The output schema can't be used${where}: ${compiled.error.message}.`;
}

/** The first thing that keeps an answer from matching its agent's schema; undefined where it matches, or where there is none. */
export function outputProblem(agent: AgentSpec | undefined, text: string): string | undefined {
  if (agent === undefined || agent.outputSchemaJson === "") return undefined;
  const value = parsed(text);
  if (value === undefined) return "it is not JSON; it must be one JSON value and nothing else, without a code fence";
  const compiled = compileJsonSchema(parsed(agent.outputSchemaJson) ?? false);
  // Checked when the session was created; only a version with other rules can refuse it now.
  if (!compiled.ok) return `the schema can't be used: ${compiled.error.message}`;
  const problem = compiled.check(value);
  return problem === undefined ? undefined : shorten(problem, PROBLEM_MAX);
}

/** What a model is told whose answer does not match. */
export function repairText(problem: string): string {
  return `Your answer does not match the schema that it has to match: ${problem}. Answer again, with one JSON value that matches the schema and nothing else.`;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The parser's own words quote the text and differ between versions.
    return undefined;
  }
}
