import type { ForgeError } from "@forge/protocol/common";

/** A value, or the error that the step fails with. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ForgeError };

export function succeeded<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

export function failed(error: ForgeError): { readonly ok: false; readonly error: ForgeError } {
  return { ok: false, error };
}
