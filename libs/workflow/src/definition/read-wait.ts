import { isMap, isScalar, type Node } from "yaml";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import { NAME_LENGTH_MAX } from "./names.ts";
import { readDurationMs } from "./read-duration.ts";
import { readSource, readTemplate } from "./read-source.ts";
import type { WaitDraft } from "./step-draft.ts";

/** The longest wait, and the longest time until it gives up: a year. */
export const WAIT_MS_MAX = 366 * 86_400_000;

const KINDS = ["duration", "until", "signal", "approval"] as const;
const QUESTION_LENGTH_MAX = 65_536;
/** RFC 3339 with its zone: a time without one means another in each place. */
const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** A step's `wait`, with the time until it gives up. */
export interface ReadWait {
  readonly wait: WaitDraft | undefined;
  readonly timeout: YamlEntry | undefined;
}

/** A step's `wait`: a duration, or a mapping with exactly one of duration, until, signal and approval. */
export function readWait(reader: YamlReader, node: Node, what: string): ReadWait {
  if (!isMap(reader.resolve(node))) return { wait: readDuration(reader, node, "wait"), timeout: undefined };
  const entries = reader.mapping(node, "wait") ?? new Map<string, YamlEntry>();
  reader.checkKeys(entries, "wait", [...KINDS, "timeout"]);
  const [timeout, named] = [entries.get("timeout"), KINDS.filter((kind) => entries.has(kind))];
  const [kind, other] = named;
  if (kind === undefined) {
    reader.problems.add(startOf(node), `${what} waits for nothing; expected one of ${KINDS.join(", ")}`);
    return { wait: undefined, timeout };
  }
  if (other !== undefined) {
    reader.problems.add((entries.get(other) as YamlEntry).offset, `${what} waits for ${named.join(" and ")}; expected one of them`);
    return { wait: undefined, timeout };
  }
  if (timeout !== undefined && (kind === "duration" || kind === "until")) {
    reader.problems.add(timeout.offset, `${what} waits for a time, which needs no timeout`);
  }
  return { wait: readKind(reader, kind, (entries.get(kind) as YamlEntry).value), timeout };
}

function readKind(reader: YamlReader, kind: (typeof KINDS)[number], node: Node): WaitDraft | undefined {
  switch (kind) {
    case "duration":
      return readDuration(reader, node, "wait.duration");
    case "until":
      return readUntil(reader, node);
    case "signal": {
      const name = reader.text(node, "wait.signal", NAME_LENGTH_MAX);
      if (name?.text.trim() !== "") return name && { kind, name };
      reader.problems.add(name.offset, "wait.signal is empty; expected the name of a signal");
      return undefined;
    }
    case "approval":
      return readApproval(reader, node);
  }
}

function readDuration(reader: YamlReader, node: Node, what: string): WaitDraft | undefined {
  const ms = readDurationMs(reader, node, what, 1, WAIT_MS_MAX);
  return ms === undefined ? undefined : { kind: "duration", ms };
}

function readUntil(reader: YamlReader, node: Node): WaitDraft | undefined {
  const until = readSource(reader, "wait.until", node);
  if (until === undefined) return undefined;
  const scalar = reader.resolve(node);
  const isTime = isScalar(scalar) && typeof scalar.value === "string" && TIME.test(scalar.value) && !Number.isNaN(Date.parse(scalar.value.replace(" ", "T")));
  if (until.source.case !== "literalJson" || isTime) return { kind: "until", until };
  reader.problems.add(
    startOf(node),
    "wait.until is no time with its zone; expected one such as 2026-03-29T09:00:00+01:00, a path into the state, or a template",
  );
  return undefined;
}

/** The question, by itself or as a mapping. */
function readApproval(reader: YamlReader, node: Node): WaitDraft | undefined {
  let question: Node = node;
  if (isMap(reader.resolve(node))) {
    const entries = reader.mapping(node, "wait.approval") ?? new Map<string, YamlEntry>();
    reader.checkKeys(entries, "wait.approval", ["question"]);
    const entry = entries.get("question");
    if (entry === undefined) {
      reader.problems.add(startOf(node), "wait.approval has no question");
      return undefined;
    }
    question = entry.value;
  }
  const text = reader.text(question, "the question of wait.approval", QUESTION_LENGTH_MAX);
  if (text?.text.trim() === "") reader.problems.add(text.offset, "the question of wait.approval is empty");
  const read = text && readTemplate(reader, "the question of wait.approval", text);
  return text && read && { kind: "approval", question: text, template: read.template };
}
