import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Value } from "@forge/protocol/common";
import type { WorkflowDefinition } from "@forge/protocol/workflow";
import type { Context } from "../decider.ts";
import { InvalidField } from "./invalid-field.ts";
import { fitsInline, inlineValue, parseJson, readValue } from "./json.ts";
import { VALUE_BYTES_MAX } from "./limits.ts";
import { suggestion } from "./nearest.ts";

/** Checks a run's inputs against the declarations and fills in defaults. Throws InvalidField. */
export function bindInputs(definition: WorkflowDefinition, given: Value | undefined, context: Context): { readonly value: Value; readonly parsed: JsonObject } {
  const value = given === undefined || given.kind.case === undefined ? inlineValue("{}") : given;
  if (value.kind.case === "json" && !fitsInline(value.kind.value)) {
    throw new InvalidField("inputs", `the inputs take more than ${VALUE_BYTES_MAX} bytes: store them as an artifact and give its reference`);
  }
  const read = readValue(value, context);
  if (!read.ok) throw new InvalidField("inputs", `the inputs can't be read: ${read.message}`);
  if (!isObject(read.value)) throw new InvalidField("inputs", "the inputs must be a JSON object");
  refuseUnknown(definition, read.value);
  const added: JsonObject = {};
  for (const declaration of definition.inputs) {
    if (Object.hasOwn(read.value, declaration.name)) continue;
    if (declaration.defaultJson !== undefined) added[declaration.name] = defaultOf(declaration.defaultJson);
    else if (declaration.required) {
      throw new InvalidField(`inputs.${declaration.name}`, `the input "${declaration.name}" is required: ${declaration.description || "give it a value"}`);
    }
  }
  if (Object.keys(added).length === 0) return { value, parsed: read.value };
  const parsed = { ...read.value, ...added };
  const json = JSON.stringify(parsed);
  if (!fitsInline(json)) {
    const names = Object.keys(added).join(", ");
    throw new InvalidField("inputs", `with their defaults the inputs take more than ${VALUE_BYTES_MAX} bytes: give all of them in the artifact, also ${names}`);
  }
  return { value: inlineValue(json), parsed };
}

function refuseUnknown(definition: WorkflowDefinition, inputs: JsonObject): void {
  const declared = new Set(definition.inputs.map((declaration) => declaration.name));
  for (const name of Object.keys(inputs)) {
    if (declared.has(name)) continue;
    const known = declared.size === 0 ? "it declares none" : `it declares ${[...declared].slice(0, 20).join(", ")}`;
    throw new InvalidField(
      `inputs.${name.slice(0, 128)}`,
      `the workflow "${definition.id}" has no input "${name.slice(0, 128)}"${suggestion(name, declared)}; ${known}`,
    );
  }
}

function defaultOf(json: string): JsonValue {
  const parsed = parseJson(json);
  if (!parsed.ok) throw new Error("a default was accepted that can't be read");
  return parsed.value;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
