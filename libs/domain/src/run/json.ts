import { create, type JsonValue } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@forge/protocol/common";
import type { Context } from "../decider.ts";
import { utf8Length } from "../text.ts";
import { JSON_DEPTH_MAX, VALUE_BYTES_MAX } from "./limits.ts";

/** A parsed value, or why it can't be read. */
export type Parsed = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly message: string };

/** Parses JSON text, nested at most 200 deep. Never throws. */
export function parseJson(text: string): Parsed {
  if (isDeeperThan(text, JSON_DEPTH_MAX)) return { ok: false, message: `nested deeper than ${JSON_DEPTH_MAX}` };
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch {
    // The engine's message quotes the text, which may be private and differs between versions.
    return { ok: false, message: "not valid JSON" };
  }
}

/** Counts brackets outside of strings, so that nothing that walks the value later can run out of stack. */
function isDeeperThan(text: string, max: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > max) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

/** Inline values are parsed once per object: a state that stays in memory is read by every branch and mapping after it. */
const parsedInline = new WeakMap<Value, Parsed>();

/** Reads a value; an artifact's text comes from the context, where `needs` has asked for it. */
export function readValue(value: Value, context: Pick<Context, "artifact">): Parsed {
  switch (value.kind.case) {
    case "json": {
      const known = parsedInline.get(value);
      if (known !== undefined) return known;
      const parsed = parseJson(value.kind.value);
      parsedInline.set(value, parsed);
      return parsed;
    }
    case "artifact": {
      const text = context.artifact(value.kind.value.sha256);
      return text === undefined ? { ok: false, message: `the artifact ${value.kind.value.sha256} does not exist` } : parseJson(text);
    }
    case undefined:
      return { ok: false, message: "a value without content" };
  }
}

/** An inline value of JSON text. */
export function inlineValue(json: string): Value {
  return create(ValueSchema, { kind: { case: "json", value: json } });
}

/** The hash of the artifact that holds the value, if one does. */
export function artifactOf(value: Value | undefined): string | undefined {
  return value?.kind.case === "artifact" ? value.kind.value.sha256 : undefined;
}

/** Bytes that a value takes in an event; references are small and count as nothing. */
export function inlineBytes(value: Value | undefined): number {
  return value?.kind.case === "json" ? utf8Length(value.kind.value) : 0;
}

/** Whether JSON text may stay inline. */
export function fitsInline(json: string): boolean {
  // A code unit takes one to three bytes, so that most texts need not be encoded to know.
  if (json.length > VALUE_BYTES_MAX) return false;
  return json.length * 3 <= VALUE_BYTES_MAX || utf8Length(json) <= VALUE_BYTES_MAX;
}
