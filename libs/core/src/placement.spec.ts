import { describe, expect, it } from "vitest";
import { Placement } from "./placement.ts";

const never = new AbortController().signal;

async function joined(owner: string, slots: number, routes = ["q tool:echo"]) {
  const placement = new Placement<string>();
  placement.add(owner, "default", routes);
  // The first poll of a worker asks the store, since work may have waited for it.
  expect(await placement.poll(owner, slots, 0, never)).toEqual({ tasks: [], backlog: true });
  return placement;
}

describe("Placement", () => {
  it("gives a task to a worker with a free slot, and no more tasks than it offered slots", async () => {
    const placement = await joined("w", 2);
    const first = placement.reserve("default", "q tool:echo");
    const second = placement.reserve("default", "q tool:echo");
    expect(placement.reserve("default", "q tool:echo")).toBeUndefined();
    placement.deliver(first as { owner: string }, "one");
    placement.deliver(second as { owner: string }, "two");
    expect(placement.undelivered("w")).toEqual(["one", "two"]);
    expect((await placement.poll("w", 2, 0, never)).tasks).toEqual(["one", "two"]);
  });

  it("reserves nothing for another route, another namespace, or a worker that drains", async () => {
    const placement = await joined("w", 2);
    expect(placement.reserve("default", "q tool:shell")).toBeUndefined();
    expect(placement.reserve("other", "q tool:echo")).toBeUndefined();
    placement.drain("w");
    expect(placement.reserve("default", "q tool:echo")).toBeUndefined();
  });

  it("gives a slot back when the task was not stored", async () => {
    const placement = await joined("w", 1);
    placement.release(placement.reserve("default", "q tool:echo") as { owner: string });
    expect(placement.reserve("default", "q tool:echo")).toEqual({ owner: "w" });
  });

  it("wakes a waiting poll for a task and for a backlog", async () => {
    const placement = await joined("w", 1);
    const forTask = placement.poll("w", 1, 60_000, never);
    placement.deliver(placement.reserve("default", "q tool:echo") as { owner: string }, "one");
    expect((await forTask).tasks).toEqual(["one"]);
    const forBacklog = placement.poll("w", 1, 60_000, never);
    placement.touch("default", "q tool:echo");
    expect(await forBacklog).toEqual({ tasks: [], backlog: true });
  });

  it("answers a poll that is taken over, aborted, or of a worker that left", async () => {
    const placement = await joined("w", 1);
    const abort = new AbortController();
    const taken = placement.poll("w", 1, 60_000, never);
    const aborted = placement.poll("w", 1, 60_000, abort.signal);
    expect((await taken).tasks).toEqual([]);
    abort.abort();
    expect((await aborted).tasks).toEqual([]);
    const left = placement.poll("w", 1, 60_000, never);
    placement.remove("w");
    expect((await left).tasks).toEqual([]);
    expect(await placement.poll("w", 1, 60_000, never)).toEqual({ tasks: [], backlog: false });
  });

  it("prefers the worker with most free slots", async () => {
    const placement = await joined("small", 1);
    placement.add("large", "default", ["q tool:echo"]);
    await placement.poll("large", 5, 0, never);
    expect(placement.reserve("default", "q tool:echo")).toEqual({ owner: "large" });
  });
});
