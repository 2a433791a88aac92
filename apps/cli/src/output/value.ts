import type { JsonValue } from "@bufbuild/protobuf";
import type { Value } from "@forge/protocol/common";
import { oneLine, safeText } from "./text.ts";

/** A value on one line, for previews; empty where there is none. */
export function previewValue(value: Value | undefined): string {
  const kind = value?.kind;
  if (kind?.case === "artifact") return oneLine(`${kind.value.preview}… (${kind.value.size} bytes, sha256 ${kind.value.sha256.slice(0, 12)})`);
  return oneLine(kind?.value ?? "");
}

/** A value for people, over as many lines as it needs: a text as it is, everything else as indented JSON. */
export function showValue(value: Value | undefined): string {
  const kind = value?.kind;
  if (kind?.case !== "json") return previewValue(value);
  const json = parsed(kind.value);
  return safeText(typeof json === "string" ? json : JSON.stringify(json, undefined, 2));
}

/** The JSON of a value that is inline and an object; undefined for every other. */
export function objectOf(value: Value | undefined): Readonly<Record<string, JsonValue>> | undefined {
  if (value?.kind.case !== "json") return undefined;
  const json = parsed(value.kind.value);
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json : undefined;
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Values are JSON by contract; what is not is shown as it is.
    return text;
  }
}
