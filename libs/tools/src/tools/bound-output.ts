import { create } from "@bufbuild/protobuf";
import { type ArtifactRef, ValueSchema } from "@forge/protocol/common";
import type { TaskContext } from "@forge/worker";
import { cutText, textEnd } from "../text.ts";
import type { JsonValue } from "./tool-definition.ts";
import type { Layer } from "./tool-layer.ts";
import { toolTask } from "./tool-task.ts";

/** JSON of one call that a model is shown; the bound of a value in an event. */
const SHOWN_BYTES_MAX = 64 * 1024;
/** The most that one artifact holds. */
const ARTIFACT_BYTES_MAX = 16 * 1024 * 1024;
/** Tried one after the other: of each long text, how many characters stay. */
const TEXT_LENGTHS = [24_000, 8_000, 2_000];
/** Of what stays, the part from the beginning; the rest is from the end. */
const HEAD_SHARE = 2 / 3;

/**
 * Bounds what a call of a session answers with: a model is shown the beginning and the end of what is long, with a mark between them, and the whole is kept as
 * an artifact (or several, in order, where one would be too large). A run's step is given the whole, as a value.
 */
export const boundOutput: Layer = (next) => async (invocation) => {
  const outcome = await next(invocation);
  if (outcome.case !== "tool" || outcome.value.output?.kind.case !== "json") return outcome;
  const { context } = invocation;
  const json = outcome.value.output.kind.value;
  const isShown = toolTask(context).sessionId !== "";
  outcome.value.output = isShown && Buffer.byteLength(json) > SHOWN_BYTES_MAX ? await shortened(json, context) : await context.toValue(json);
  return outcome;
};

async function shortened(json: string, context: TaskContext): Promise<ReturnType<typeof create<typeof ValueSchema>>> {
  const bytes = Buffer.from(json, "utf8");
  const kept: ArtifactRef[] = [];
  for (let start = 0; start < bytes.length; start += ARTIFACT_BYTES_MAX) {
    const isWhole = bytes.length <= ARTIFACT_BYTES_MAX;
    kept.push(await context.putArtifact(bytes.subarray(start, start + ARTIFACT_BYTES_MAX), isWhole ? "application/json" : "application/octet-stream"));
  }
  const whole = { bytes: bytes.length, artifacts: kept.map(({ sha256 }) => sha256) };
  return create(ValueSchema, { kind: { case: "json", value: shownJson(json, whole) } });
}

/** At most SHOWN_BYTES_MAX bytes: the value with its long texts shortened, where that is enough, else the ends of its JSON text. */
function shownJson(json: string, whole: JsonValue): string {
  const value = JSON.parse(json) as JsonValue;
  for (const length of TEXT_LENGTHS) {
    const short = withShortTexts(value, length);
    const shown = isObject(short) ? { ...short, whole_output: whole } : { output: short, whole_output: whole };
    const text = JSON.stringify(shown);
    if (Buffer.byteLength(text) <= SHOWN_BYTES_MAX) return text;
  }
  for (let length = 40_000; ; length = Math.floor(length / 2)) {
    const text = JSON.stringify({ output_as_text: shortText(json, length), whole_output: whole });
    if (Buffer.byteLength(text) <= SHOWN_BYTES_MAX) return text;
  }
}

function withShortTexts(value: JsonValue, length: number): JsonValue {
  if (typeof value === "string") return shortText(value, length);
  if (Array.isArray(value)) return value.map((item) => withShortTexts(item, length));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withShortTexts(item, length)]));
}

function shortText(text: string, length: number): string {
  if (text.length <= length) return text;
  const head = cutText(text, Math.floor(length * HEAD_SHARE));
  const tail = textEnd(text, length - Math.floor(length * HEAD_SHARE));
  return `${head}\n[${text.length - head.length - tail.length} characters left out here]\n${tail}`;
}

function isObject(value: JsonValue): value is { [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
