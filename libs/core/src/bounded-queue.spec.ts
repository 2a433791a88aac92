import { describe, expect, it } from "vitest";
import { BoundedQueue } from "./bounded-queue.ts";

const never = new AbortController().signal;

describe("BoundedQueue", () => {
  it("refuses what is beyond its bounds, in items and in weight, and takes again once emptied", () => {
    const queue = new BoundedQueue<string>(2, 10);
    expect(queue.push("a", 6)).toBe(true);
    expect(queue.push("b", 6)).toBe(false);
    expect(queue.push("c", 4)).toBe(true);
    expect(queue.push("d", 0)).toBe(false);
    expect(queue.take()).toEqual(["a", "c"]);
    expect(queue.push("b", 10)).toBe(true);
  });

  it("wakes a waiting consumer for an item, a nudge and an abort", async () => {
    const queue = new BoundedQueue<string>(2, 10);
    const item = queue.wait(60_000, never);
    queue.push("a", 1);
    await item;
    queue.take();
    const nudge = queue.wait(60_000, never);
    queue.nudge();
    await nudge;
    const abort = new AbortController();
    const aborted = queue.wait(60_000, abort.signal);
    abort.abort();
    await aborted;
    expect(queue.length).toBe(0);
  });
});
