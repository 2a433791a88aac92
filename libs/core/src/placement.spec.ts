import { describe, expect, it } from "vitest";
import { Placement } from "./placement.ts";

const never = new AbortController().signal;

async function joined(owner: string, slots: number, routes = ["q tool:echo"]) {
  const placement = new Placement<string>();
  placement.add(owner, "default", routes);
  // The first poll of a worker asks the store, since work may have waited for it.
  expect(await placement.poll(owner, slots, 0, never)).toEqual({ tasks: [], wanted: slots, ended: false });
  // The store had nothing; this poll offers the slots, and waits.
  void placement.poll(owner, slots, 60_000, never);
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

  it("waits while every slot is reserved, though there is a backlog, and asks for it once a slot is free", async () => {
    const placement = await joined("w", 1);
    const reservation = placement.reserve("default", "q tool:echo") as { owner: string };
    placement.touch("default", "q tool:echo");
    expect(await placement.poll("w", 1, 0, never)).toEqual({ tasks: [], wanted: 0, ended: false });
    let isBack = false;
    const poll = placement.poll("w", 1, 60_000, never).finally(() => {
      isBack = true;
    });
    await new Promise(setImmediate);
    expect(isBack).toBe(false);
    placement.release(reservation);
    expect(await poll).toEqual({ tasks: [], wanted: 1, ended: false });
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
    expect(await forTask).toEqual({ tasks: ["one"], wanted: 0, ended: false });
    const forBacklog = placement.poll("w", 1, 60_000, never);
    placement.touch("default", "q tool:echo");
    expect(await forBacklog).toEqual({ tasks: [], wanted: 1, ended: false });
  });

  it("says that a poll has ended which was taken over, aborted, or whose worker drains or left", async () => {
    const placement = await joined("w", 1);
    const ended = { tasks: [], wanted: 0, ended: true };
    const taken = placement.poll("w", 1, 60_000, never);
    const abort = new AbortController();
    const aborted = placement.poll("w", 1, 60_000, abort.signal);
    expect(await taken).toEqual(ended);
    abort.abort();
    expect(await aborted).toEqual(ended);
    const drained = placement.poll("w", 1, 60_000, never);
    placement.drain("w");
    expect(await drained).toEqual(ended);
    expect(await placement.poll("w", 1, 60_000, never)).toEqual(ended);
    placement.remove("w");
    expect(await placement.poll("w", 1, 60_000, never)).toEqual(ended);
  });

  it("counts what is reserved and what was not fetched yet against the next offer", async () => {
    const placement = await joined("w", 2);
    const first = placement.reserve("default", "q tool:echo") as { owner: string };
    const again = placement.poll("w", 2, 60_000, never);
    const second = placement.reserve("default", "q tool:echo") as { owner: string };
    expect(placement.reserve("default", "q tool:echo")).toBeUndefined();
    placement.deliver(first, "one");
    placement.deliver(second, "two");
    expect(placement.reserve("default", "q tool:echo")).toBeUndefined();
    expect((await again).tasks).toEqual(["one", "two"]);
  });

  it("places nothing with a worker whose poll was aborted", async () => {
    const placement = await joined("w", 2);
    const abort = new AbortController();
    const poll = placement.poll("w", 2, 60_000, abort.signal);
    abort.abort();
    await poll;
    expect(placement.reserve("default", "q tool:echo")).toBeUndefined();
  });

  it("gives back what was not fetched, and names nothing as a draining worker's", async () => {
    const placement = await joined("w", 2);
    for (const task of ["one", "two"]) placement.deliver(placement.reserve("default", "q tool:echo") as { owner: string }, task);
    expect(placement.withdraw((task) => task === "one")).toEqual(["one"]);
    expect(placement.undelivered("w")).toEqual(["two"]);
    placement.drain("w");
    expect(placement.undelivered("w")).toEqual([]);
  });

  it("prefers the worker with most free slots", async () => {
    const placement = await joined("small", 1);
    placement.add("large", "default", ["q tool:echo"]);
    await placement.poll("large", 5, 0, never);
    void placement.poll("large", 5, 60_000, never);
    expect(placement.reserve("default", "q tool:echo")).toEqual({ owner: "large" });
  });
});
