import { expect, it } from "vitest";
import type { Store } from "../ports/index.ts";
import { HeadReader } from "./head-reader.ts";

it("asks at once for what came together, once for each stream, and later for what came later", async () => {
  const asked: string[][] = [];
  const seqs = new Map([
    ["a", 1],
    ["b", 2],
  ]);
  const heads: Store["heads"] = async (streams) => {
    asked.push(streams.map(({ streamId }) => streamId));
    const found = streams.flatMap(({ namespace, streamId }) => {
      const seq = seqs.get(streamId);
      return seq === undefined ? [] : [{ namespace, streamId, kind: "run" as const, seq }];
    });
    await new Promise(setImmediate);
    return found.toReversed();
  };
  const reader = new HeadReader({ heads });
  const first = ["a", "b", "none", "a"].map(async (id) => (await reader.read("default", id))?.seq);
  expect(await Promise.all(first)).toEqual([1, 2, undefined, 1]);
  seqs.set("a", 7);
  expect((await reader.read("default", "a"))?.seq).toBe(7);
  expect(asked).toEqual([["a", "b", "none"], ["a"]]);
});

it("tells each who asked of a failure, and goes on", async () => {
  let fails = true;
  const reader = new HeadReader({
    heads: async (streams) => {
      if (fails) throw new Error("lost");
      return streams.map((stream) => ({ ...stream, kind: "run", seq: 1 }));
    },
  });
  const results = await Promise.allSettled([reader.read("default", "a"), reader.read("default", "b")]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect((await reader.read("default", "a"))?.seq).toBe(1);
});
