import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import { canonicalJson } from "../run/canonical-json.ts";
import { isJsonObject, mapSubschemas } from "./subschemas.ts";

/** What is wrong with a schema, and where: the keys and indexes that lead there. */
export interface SchemaProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** Says what is wrong with a value, for example `items.0.name must be string`; undefined where it satisfies the schema. */
export type CheckValue = (value: JsonValue) => string | undefined;

/** A schema that is ready for use, or what is wrong with it. */
export type CompiledSchema = { readonly ok: true; readonly check: CheckValue } | { readonly ok: false; readonly error: SchemaProblem };

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** Units of work of one check: a subschema that is applied, a name or constant that it compares, 256 characters that it reads. About a second at worst. */
const WORK_MAX = 5_000_000;

/** Characters of a regular expression. */
const PATTERN_LENGTH_MAX = 1_024;

/** Instructions of a compiled regular expression: `(a{500}){2}` is short and makes a thousand. */
const PATTERN_SIZE_MAX = 10_000;

/** A keyword of ours that every subschema gets: what it costs to apply it. */
const WORK = "x-forge-work";

/** A schema is compiled by what looks like anybody's; the answer to a value that takes too much work comes as this. */
class WorkExceeded extends Error {}

/** Compiled once: what a schema itself must satisfy. */
let metaschema: Ajv2020 | undefined;

/**
 * Compiles a JSON Schema (2020-12). It may refer to its own parts only. Regular expressions are those of RE2, whose time is linear, and the whole check is
 * bounded, whatever the schema's references multiply to: the schema comes from whoever starts a run, and is applied by the control plane.
 */
export function compileJsonSchema(schema: JsonValue): CompiledSchema {
  const problem = shapeProblem(schema);
  if (problem !== undefined) return { ok: false, error: problem };
  const work = { left: 0 };
  const ajv = newAjv(work);
  try {
    const validate = ajv.compile(withWork(schema) as JsonObject);
    return { ok: true, check: (value) => check(validate, value, work) };
  } catch (error) {
    // References that lead nowhere and expressions that RE2 does not take; the library says which.
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, error: { path: [], message: message.slice(0, 500) } };
  }
}

function shapeProblem(schema: JsonValue): SchemaProblem | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isJsonObject(schema)) return { path: [], message: "a JSON Schema is a mapping, or true or false" };
  const dialect = schema["$schema"];
  if (dialect !== undefined && (typeof dialect !== "string" || dialect.replace(/#$/, "") !== DIALECT))
    return { path: ["$schema"], message: `the dialect is ${DIALECT}, and no other` };
  // The library takes it as a word of its own, and then answers with a promise.
  if (Object.hasOwn(schema, "$async")) return { path: ["$async"], message: "`$async` is no keyword of JSON Schema" };
  metaschema ??= new Ajv2020({ strict: false, validateFormats: false, logger: false });
  if (metaschema.validate(DIALECT, schema)) return undefined;
  const [error] = metaschema.errors ?? [];
  return { path: pathOf(error), message: messageOf(error) };
}

function newAjv(work: { left: number }): Ajv2020 {
  const spend = (units: number): true => {
    work.left -= units;
    if (work.left < 0) throw new WorkExceeded();
    return true;
  };
  const ajv = new Ajv2020({
    strict: false,
    meta: false,
    validateSchema: false,
    validateFormats: false,
    logger: false,
    ownProperties: true,
    inlineRefs: false,
    code: { regExp: Object.assign((pattern: string) => linearExpression(pattern, spend), { code: "" }) },
  });
  ajv.addKeyword({
    keyword: WORK,
    validate: (units: number, value: unknown) => spend(units + (typeof value === "string" ? value.length >> 8 : 0)),
    errors: false,
  });
  // The library's own compares every item with every other.
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    error: { message: "must not have two items that are the same" },
    validate: (wanted: boolean, items: JsonValue[]) => !wanted || (spend(items.length) && new Set(items.map(canonicalJson)).size === items.length),
  });
  return ajv;
}

/** As the library wants one: `test` says whether the expression matches anywhere, `toString` tells it from others. */
function linearExpression(pattern: string, spend: (units: number) => true): { test: (text: string) => boolean; toString: () => string } {
  if (pattern.length > PATTERN_LENGTH_MAX) throw new Error(`a pattern has more than ${PATTERN_LENGTH_MAX} characters`);
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    throw new Error(`the pattern ${JSON.stringify(pattern)} is not one of RE2: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
  const size = expression.programSize();
  if (size > PATTERN_SIZE_MAX) throw new Error(`the pattern ${JSON.stringify(pattern.slice(0, 80))} is too large once its repetitions are written out`);
  return {
    test: (text) => spend(1 + Math.ceil((text.length * size) / 256)) && expression.matcher(text).find(),
    toString: () => pattern,
  };
}

/** The schema with its cost in every subschema: names and constants that it may compare with. */
function withWork(schema: JsonValue): JsonValue {
  return mapSubschemas(schema, (subschema) => {
    const compared = Object.values(subschema).reduce<number>((sum, value) => {
      if (Array.isArray(value)) return sum + value.length;
      return sum + (isJsonObject(value) ? Object.keys(value).length : 0);
    }, 1);
    return { ...subschema, [WORK]: compared };
  });
}

function check(validate: ValidateFunction, value: JsonValue, work: { left: number }): string | undefined {
  work.left = WORK_MAX;
  try {
    if (validate(value)) return undefined;
  } catch (error) {
    if (error instanceof WorkExceeded) return "it takes too much work to be checked; make the schema or the value smaller";
    if (error instanceof RangeError) return "the schema leads too deep to be checked";
    throw error;
  }
  const [error] = validate.errors ?? [];
  return [...pathOf(error), ...named(error)]
    .join(".")
    .concat(` ${messageOf(error)}`)
    .trim();
}

/** JSON Pointer writes `/` as ~1 and `~` as ~0. */
function pathOf(error: ErrorObject | undefined): string[] {
  return (error?.instancePath ?? "")
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The property that is missing or too many, where that is what is wrong. */
function named(error: ErrorObject | undefined): string[] {
  const name: unknown = error?.params["missingProperty"] ?? error?.params["additionalProperty"] ?? error?.params["unevaluatedProperty"];
  return typeof name === "string" ? [name] : [];
}

function messageOf(error: ErrorObject | undefined): string {
  const allowed: unknown = error?.params["allowedValues"];
  const values = Array.isArray(allowed)
    ? `: ${allowed
        .slice(0, 12)
        .map((value) => JSON.stringify(value))
        .join(", ")}`
    : "";
  return `${error?.message ?? "does not match the schema"}${values}`.slice(0, 500);
}
