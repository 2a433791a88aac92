import type { DescEnum } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";

/** A value's name as in the proto, for example SESSION_STATUS_ACTIVE; undefined for zero, which stands for no filter. Errors: validation of an unknown value. */
export function enumName(schema: DescEnum, value: number, field: string): string | undefined {
  if (value === 0) return undefined;
  const known = schema.value[value];
  if (known === undefined) throw ForgeError.validation(field, `${field} ${value} is not known here: it is none of ${schema.typeName}, or of a newer version`);
  return known.name;
}
