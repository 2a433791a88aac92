import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import type { Store } from "../ports/index.ts";
import { DeltaPruner } from "./delta-pruner.ts";

const DELAY_MS = 1_000;

it("removes the output of a stream once, however often it is asked to within its delay", async () => {
  vi.useFakeTimers();
  try {
    const pruneDeltas = vi.fn<Store["pruneDeltas"]>().mockResolvedValue(undefined);
    const pruner = new DeltaPruner({ pruneDeltas }, () => expect.unreachable());
    pruner.prune("n", "a", 3);
    pruner.prune("n", "a", 7);
    pruner.prune("n", "b", 2);
    await vi.advanceTimersByTimeAsync(DELAY_MS);
    expect(pruneDeltas.mock.calls).toEqual([
      ["n", "a", 7],
      ["n", "b", 2],
    ]);
    await pruner.stop();
  } finally {
    vi.useRealTimers();
  }
});

it("asks for nothing any more once it has stopped, and stops only when what it has asked for is answered", async () => {
  const asked: string[] = [];
  const { promise: answer, resolve } = Promise.withResolvers<undefined>();
  const store = {
    pruneDeltas: async (_namespace: string, streamId: string) => {
      asked.push(streamId);
      return await answer;
    },
  };
  const pruner = new DeltaPruner(store, () => expect.unreachable(), 1);
  for (const streamId of ["a", "b", "c"]) pruner.prune("n", streamId, 1);
  await vi.waitFor(() => expect(asked).toEqual(["a"]));
  let hasStopped = false;
  const stopped = pruner.stop().then(() => {
    hasStopped = true;
  });
  pruner.prune("n", "d", 1);
  await sleep(10);
  expect(hasStopped).toBe(false);
  resolve(undefined);
  await stopped;
  await sleep(10);
  expect(asked).toEqual(["a"]);
});
