import { describe, expect, it } from "vitest";
import type { StoredEvent } from "../ports/index.ts";
import { RecentEvents } from "./recent-events.ts";

const NS = "default";

function events(from: number, to: number, size = 10): StoredEvent[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({ seq: from + index, kind: "message.added", bytes: new Uint8Array(size) }));
}

function setup() {
  const asked: string[] = [];
  const recent = new RecentEvents({
    readEvents: async (_, streamId, { afterSeq, throughSeq }) => {
      asked.push(`${streamId} ${afterSeq}-${throughSeq ?? ""}`);
      return { events: [], headSeq: 0, prunedThroughSeq: 0 };
    },
  });
  const read = async (afterSeq: number, throughSeq: number | undefined, limit = 100, streamId = "a") =>
    (await recent.readEvents(NS, streamId, { afterSeq, throughSeq, limit, deltas: false })).events.map(({ seq }) => seq);
  return { asked, recent, read };
}

describe("recent events", () => {
  it("are answered from memory where all that is asked for was appended here, and are read from the store where not", async () => {
    const { asked, recent, read } = setup();
    recent.add(NS, "a", events(4, 6), false);
    recent.add(NS, "a", events(7, 8), false);
    expect(await read(3, 8)).toEqual([4, 5, 6, 7, 8]);
    expect(await read(5, 7)).toEqual([6, 7]);
    expect(await read(3, 8, 2)).toEqual([4, 5]);
    expect(asked).toEqual([]);
    await read(2, 8);
    await read(3, 9);
    await read(3, undefined);
    await read(3, 8, 100, "b");
    expect(asked).toEqual(["a 2-8", "a 3-9", "a 3-", "b 3-8"]);
  });

  it("have no gap: what another replica appended between makes what is before it no use", async () => {
    const { asked, recent, read } = setup();
    recent.add(NS, "a", events(1, 3), false);
    recent.add(NS, "a", events(5, 6), false);
    expect(await read(4, 6)).toEqual([5, 6]);
    await read(2, 6);
    expect(asked).toEqual(["a 2-6"]);
  });

  it("leave out output that no fold reads, and are not asked for it", async () => {
    const { asked, recent, read } = setup();
    recent.add(NS, "a", events(1, 2), false);
    recent.add(NS, "a", events(3, 4), true);
    recent.add(NS, "a", events(5, 5), false);
    expect(await read(0, 5)).toEqual([1, 2, 5]);
    await recent.readEvents(NS, "a", { afterSeq: 0, throughSeq: 5, limit: 10, deltas: true });
    await recent.readEvents(NS, "a", { afterSeq: 0, throughSeq: 5, limit: 10, deltas: false, kinds: ["turn.started"] });
    expect(asked).toEqual(["a 0-5", "a 0-5"]);
  });

  it("are bounded for a stream, by whole events from the oldest on", async () => {
    const { asked, recent, read } = setup();
    recent.add(NS, "a", events(1, 4, 100_000), false);
    expect(await read(2, 4)).toEqual([3, 4]);
    expect(asked).toEqual([]);
    await read(1, 4);
    // One that is larger than what is kept of a stream is not kept, and no reason to lose what follows.
    recent.add(NS, "a", events(5, 5, 300_000), false);
    recent.add(NS, "a", events(6, 6), false);
    await read(4, 6);
    expect(asked).toEqual(["a 1-4", "a 4-6"]);
    expect(await read(5, 6)).toEqual([6]);
  });

  it("are bounded for all streams, of which the longest unused goes first, also where nothing of it is kept", async () => {
    const { asked, recent, read } = setup();
    recent.add(NS, "a", events(1, 1, 200_000), false);
    recent.add(NS, "b", events(1, 1, 200_000), false);
    for (let index = 0; index < 82; index++) recent.add(NS, `c${index}`, events(1, 1, 200_000), false);
    await read(0, 1, 1, "a");
    expect(asked).toEqual(["a 0-1"]);
    expect(await read(0, 1, 1, "c81")).toEqual([1]);
    for (let index = 0; index < 70_000; index++) recent.add(NS, `d${index}`, events(1, 1), true);
    await read(0, 1, 1, "c81");
    expect(asked).toEqual(["a 0-1", "c81 0-1"]);
  });
});
