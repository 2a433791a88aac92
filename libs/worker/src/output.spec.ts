import { create } from "@bufbuild/protobuf";
import { type TaskLease, TaskLeaseSchema } from "@forge/protocol/common";
import { TurnOutputDeltaSchema } from "@forge/protocol/event";
import { type OutputDelta } from "@forge/protocol/worker";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Output } from "./output.ts";

const LEASE: TaskLease = create(TaskLeaseSchema, { taskId: "task", epoch: 1 });

function text(value: string): OutputDelta["kind"] {
  return { case: "turn", value: create(TurnOutputDeltaSchema, { channel: { case: "text", value } }) };
}

function reasoning(value: string): OutputDelta["kind"] {
  return { case: "turn", value: create(TurnOutputDeltaSchema, { channel: { case: "reasoning", value } }) };
}

function argumentsOf(providerCallId: string, argumentsJson: string): OutputDelta["kind"] {
  return { case: "turn", value: create(TurnOutputDeltaSchema, { channel: { case: "toolArguments", value: { providerCallId, argumentsJson } } }) };
}

function short({ kind }: OutputDelta): string {
  if (kind.case !== "turn") return String(kind.case);
  const { channel } = kind.value;
  if (channel.case === "toolArguments") return `${channel.value.providerCallId}: ${channel.value.argumentsJson}`;
  return `${channel.case}: ${channel.value}`;
}

describe("a task's output", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function setup(send?: () => Promise<void>) {
    const sent: string[][] = [];
    const output = new Output(LEASE, async (deltas) => {
      sent.push(deltas.map(short));
      await send?.();
    });
    return { sent, output };
  }

  it("goes at once at first, then every 50 ms, joined by channel and in order", async () => {
    const { sent, output } = setup();
    output.push(text("a"));
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toEqual([["text: a"]]);
    await vi.advanceTimersByTimeAsync(10);
    for (const piece of [text("b"), text("c"), reasoning("d"), reasoning("e"), argumentsOf("1", "{"), argumentsOf("1", "}"), argumentsOf("2", "{}"), text("f")])
      output.push(piece);
    await vi.advanceTimersByTimeAsync(39);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent.slice(1)).toEqual([["text: bc", "reasoning: de", "1: {}", "2: {}", "text: f"]]);
    await vi.advanceTimersByTimeAsync(60);
    output.push(text("g"));
    await vi.advanceTimersByTimeAsync(0);
    expect(sent.slice(2)).toEqual([["text: g"]]);
  });

  it("goes at once after 4,096 characters", async () => {
    const { sent, output } = setup();
    output.push(text("a"));
    await vi.advanceTimersByTimeAsync(0);
    output.push(text("x".repeat(4095)));
    expect(sent).toHaveLength(1);
    output.push(text("y"));
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toHaveLength(2);
  });

  it("is one report at a time, and what comes meanwhile goes in the next", async () => {
    let gate = Promise.withResolvers<void>();
    const { sent, output } = setup(() => gate.promise);
    output.push(text("a"));
    await vi.advanceTimersByTimeAsync(0);
    for (let count = 0; count < 3; count++) {
      output.push(text("x".repeat(4096)));
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(sent).toHaveLength(1);
    const first = gate;
    gate = Promise.withResolvers<void>();
    first.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(sent.slice(1)).toEqual([[`text: ${"x".repeat(3 * 4096)}`]]);
    gate.resolve();
  });

  it("is lost, and nothing else, when a report fails", async () => {
    const { sent, output } = setup(() => Promise.reject(new Error("connection reset")));
    output.push(text("a"));
    await vi.advanceTimersByTimeAsync(50);
    output.push(text("b"));
    await vi.advanceTimersByTimeAsync(0);
    expect(sent).toEqual([["text: a"], ["text: b"]]);
  });

  it("is not reported where the task ends in the same turn of the event loop", async () => {
    const { sent, output } = setup();
    output.push(text("a"));
    output.end();
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toEqual([]);
  });

  it("stops when the task has ended", async () => {
    const { sent, output } = setup();
    output.push(text("a"));
    await vi.advanceTimersByTimeAsync(0);
    output.push(text("b"));
    output.end();
    output.push(text("c"));
    await vi.advanceTimersByTimeAsync(1000);
    expect(sent).toEqual([["text: a"]]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
