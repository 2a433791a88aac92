import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { replayRun, runDecider, runView, sessionDecider } from "@forge/domain";
import { EventSchema } from "@forge/protocol/event";
import { RunSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";

// What earlier versions wrote is read for ever: each release's histories are folded, replayed and shown as they were then. See record.ts.

const versions = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());

it("there are histories", () => {
  expect(versions).not.toEqual([]);
});

describe.each(versions.map(({ name }) => name))("histories of %s", (version) => {
  const directory = path.join(import.meta.dirname, version);
  const names = readdirSync(directory)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => name.replace(".jsonl", ""));
  const events = (name: string) =>
    readFileSync(path.join(directory, `${name}.jsonl`), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => fromJson(EventSchema, JSON.parse(line) as JsonValue));

  it.each(names)("%s is folded, event by event", (name) => {
    const history = events(name);
    const decider = history[0]?.payload.case === "runCreated" ? runDecider : sessionDecider;
    const state = history.reduce((before: never, event) => decider.evolve(before, event) as never, decider.initial() as never);
    expect(decider.outstanding(state).flat()).toEqual([]);
    expect(history.map(({ seq }) => Number(seq))).toEqual(history.map((_, index) => index + 1));
  });

  it.each(names.filter((name) => name !== "session"))("%s follows from itself, and shows what it showed", (name) => {
    const history = events(name);
    const { mismatches } = replayRun(history, true, { sha256: (text) => hash("sha256", text), artifact: () => undefined });
    expect(mismatches).toEqual([]);
    const shown = JSON.parse(readFileSync(path.join(directory, `${name}.view.json`), "utf8")) as JsonValue;
    expect(toJson(RunSchema, runView(history))).toEqual(shown);
  });
});

describe("a history that was tampered with", () => {
  const read = (name: string) =>
    readFileSync(path.join(import.meta.dirname, "0.1.0", `${name}.jsonl`), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, Record<string, JsonValue>>);
  const replayed = (lines: readonly object[]) =>
    replayRun(
      lines.map((line) => fromJson(EventSchema, line as JsonValue)),
      true,
      { sha256: (text) => hash("sha256", text), artifact: () => undefined },
    ).mismatches;

  it.each<[string, string, Record<string, JsonValue>, string]>([
    ["branches", "stepCompleted", { nextSource: "rule:0" }, "payload.next_source"],
    ["three-steps", "stepStarted", { input: { call: { json: '{"pieces":3}' } } }, "payload.input.call.pieces"],
    ["three-steps", "runCompleted", { output: { json: '"another"' } }, "payload.output"],
    ["graph", "stepSkipped", { reason: "when" }, "payload.reason"],
    ["fork", "runCreated", { workflowHash: "0" }, "payload.workflow_hash"],
  ])("is found in %s at its %s", (name, payload, change, at) => {
    const lines = read(name);
    const index = lines.findIndex((each) => payload in each);
    Object.assign(lines[index]?.[payload] ?? {}, change);
    expect(replayed(lines)[0]).toMatchObject({ path: at, seq: BigInt(index + 1) });
  });
});
