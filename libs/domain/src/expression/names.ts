/** Names that reach into a host object's machinery; no path, expression or step id may hold one. */
const RESERVED: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Whether a name is refused everywhere, as attribute, subscript and path segment. */
export function isReservedName(name: string): boolean {
  return RESERVED.has(name);
}

/** The value of an object's own data property; reserved names, accessors and what is inherited count as absent. */
export function ownValue(object: object, key: string): { readonly value: unknown } | undefined {
  return isReservedName(key) ? undefined : ownData(object, key);
}

/** Like `ownValue`, for looking whether a key is there and comparing it: data may have keys that nobody may follow. */
export function ownData(object: object, key: string): { readonly value: unknown } | undefined {
  const descriptor = Object.getOwnPropertyDescriptor(object, key);
  return descriptor !== undefined && "value" in descriptor ? { value: descriptor.value as unknown } : undefined;
}
