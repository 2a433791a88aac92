import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { DeltaPruner } from "./delta-pruner.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setup() {
  const pruned: string[] = [];
  const answers: (() => void)[] = [];
  const problems: unknown[] = [];
  const store = {
    pruneDeltas: (namespace: string, streamId: string, throughSeq: number) => {
      pruned.push(`${namespace} ${streamId} ${throughSeq}`);
      return new Promise<void>((resolve) => answers.push(resolve));
    },
  };
  return { pruned, answers, problems, pruner: new DeltaPruner(store, (error) => problems.push(error)) };
}

it("removes what several turns of a stream left in one go, a second later, and goes on with what came meanwhile", async () => {
  const { pruner, pruned, answers } = setup();
  pruner.prune("n", "a", 3);
  pruner.prune("n", "a", 7);
  expect(pruned).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  pruner.prune("n", "b", 2);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(pruned).toEqual(["n a 7"]);
  answers.shift()?.();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(pruned).toEqual(["n a 7", "n b 2"]);
});

it("asks the store for nothing more once it has stopped, and has stopped once the store has answered", async () => {
  const { pruner, pruned, answers, problems } = setup();
  for (const id of ["a", "b", "c"]) pruner.prune("n", id, 1);
  await vi.advanceTimersByTimeAsync(1_000);
  let stopped = false;
  const stopping = pruner.stop().then(() => {
    stopped = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(stopped).toBe(false);
  answers.shift()?.();
  await stopping;
  pruner.prune("n", "d", 1);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([pruned, problems]).toEqual([["n a 1"], []]);
});
