import { ForgeError } from "@forge/protocol";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";

/**
 * A function that throws `validation`, naming the path, for arguments that don't match a JSON Schema. The schema is compiled at the first call, because most
 * tools of a worker are not called before its first task must be served. Of a foreign schema, what is not known here is ignored.
 */
export function argumentValidator(schema: { readonly [key: string]: unknown }, { foreign = false } = {}): (args: unknown) => void {
  let validate: ValidateFunction | undefined;
  return (args) => {
    validate ??= new Ajv2020(
      foreign ? { strict: false, validateFormats: false, ownProperties: true, logger: false } : { strict: true, ownProperties: true },
    ).compile(schema);
    if (validate(args)) return;
    const [error] = validate.errors ?? [];
    const field = fieldOf(error);
    throw ForgeError.validation(field, `${field} ${error?.message ?? "does not match the tool's schema"}; the tool was not called`, {
      reason: "TOOL_ARGUMENTS",
      origin: "tool",
    });
  };
}

/** For example `arguments.items.0.name`, the property that is missing or too many included. */
function fieldOf(error: ErrorObject | undefined): string {
  const named: unknown = error?.params.missingProperty ?? error?.params.additionalProperty;
  const path = (error?.instancePath ?? "").split("/").slice(1);
  // JSON Pointer writes `/` as ~1 and `~` as ~0.
  const names = path.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return ["arguments", ...names, ...(typeof named === "string" ? [named] : [])].join(".");
}
