import { describe, expect, it, vi } from "vitest";
import { Batcher } from "./batcher.ts";

/** A sender whose batches end when told. */
function controlled() {
  const sent: { items: readonly number[]; end: () => void; fail: (error: Error) => void }[] = [];
  const send = (items: readonly number[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      sent.push({ items, end: () => resolve(items.map((item) => `done ${item}`)), fail: reject });
    });
  return { sent, send };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("Batcher", () => {
  it("sends at once when idle and gathers what arrives meanwhile into the next batch", async () => {
    const { sent, send } = controlled();
    const batcher = new Batcher(send, { concurrency: 1, batchMax: 10 });
    const first = batcher.submit(1);
    await turn();
    expect(sent.map((batch) => batch.items)).toEqual([[1]]);
    const later = [batcher.submit(2), batcher.submit(3)];
    await turn();
    expect(sent).toHaveLength(1);
    sent[0]?.end();
    expect(await first).toBe("done 1");
    await turn();
    expect(sent[1]?.items).toEqual([2, 3]);
    sent[1]?.end();
    expect(await Promise.all(later)).toEqual(["done 2", "done 3"]);
  });

  it("never puts more into a batch, nor more batches on their way, than it may", async () => {
    const { sent, send } = controlled();
    const batcher = new Batcher(send, { concurrency: 2, batchMax: 2 });
    const all = [1, 2, 3, 4, 5].map((item) => batcher.submit(item));
    await turn();
    expect(sent.map((batch) => batch.items)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    for (const batch of sent) batch.end();
    await turn();
    await turn();
    sent[2]?.end();
    expect(await Promise.all(all)).toHaveLength(5);
  });

  it("shares what waits among the batches that may go, and keeps few items together", async () => {
    const { sent, send } = controlled();
    const batcher = new Batcher(send, { concurrency: 2, batchMax: 100 });
    const many = Array.from({ length: 32 }, (_, item) => batcher.submit(item));
    await turn();
    expect(sent.map((batch) => batch.items.length)).toEqual([16, 16]);
    for (const batch of sent) batch.end();
    await Promise.all(many);
    const few = Array.from({ length: 10 }, (_, item) => batcher.submit(item));
    await turn();
    expect(sent.slice(2).map((batch) => batch.items.length)).toEqual([8, 2]);
    for (const batch of sent) batch.end();
    await Promise.all(few);
  });

  it("fails every item of a failed batch and goes on with the next", async () => {
    const { sent, send } = controlled();
    const batcher = new Batcher(send, { concurrency: 1, batchMax: 10 });
    const doomed = [batcher.submit(1), batcher.submit(2)];
    await turn();
    sent[0]?.fail(new Error("gone"));
    const results = await Promise.allSettled(doomed);
    expect(results.map((result) => result.status)).toEqual(["rejected", "rejected"]);
    const next = batcher.submit(3);
    await turn();
    sent[1]?.end();
    expect(await next).toBe("done 3");
  });

  it("keeps its distance where it is told to: the first goes at once, what follows waits for company", async () => {
    vi.useFakeTimers();
    try {
      const sent: (readonly number[])[] = [];
      const batcher = new Batcher(
        async (items: readonly number[]) => {
          sent.push(items);
          return items;
        },
        { concurrency: 1, batchMax: 10, intervalMs: 100 },
      );
      const first = batcher.submit(1);
      await vi.advanceTimersByTimeAsync(0);
      expect([sent, await first]).toEqual([[[1]], 1]);
      const rest = [batcher.submit(2)];
      await vi.advanceTimersByTimeAsync(60);
      rest.push(batcher.submit(3));
      await vi.advanceTimersByTimeAsync(30);
      expect(sent).toEqual([[1]]);
      await vi.advanceTimersByTimeAsync(20);
      expect([sent, await Promise.all(rest)]).toEqual([
        [[1], [2, 3]],
        [2, 3],
      ]);
      await vi.advanceTimersByTimeAsync(1_000);
      void batcher.submit(4);
      await vi.advanceTimersByTimeAsync(1);
      expect(sent.at(-1)).toEqual([4]);
    } finally {
      vi.useRealTimers();
    }
  });
});
