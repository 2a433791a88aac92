import type { DescEnum } from "@bufbuild/protobuf";

/** A value's name as in the proto, for example SESSION_STATUS_ACTIVE; undefined for zero, which stands for no filter. */
export function enumName(schema: DescEnum, value: number): string | undefined {
  return value === 0 ? undefined : schema.value[value]?.name;
}

/** The value with this name; 0 where there is none. */
export function enumValue(schema: DescEnum, name: string): number {
  return schema.values.find((value) => value.name === name)?.number ?? 0;
}
