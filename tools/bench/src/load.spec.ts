import { describe, expect, it } from "vitest";
import { measure, Turnstile } from "./load.ts";

describe("measure", () => {
  it("runs so many at once and no more, so often and no oftener", async () => {
    let [running, most] = [0, 0];
    const round = await measure(4, { seconds: 60, countMax: 10 }, async () => {
      running++;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running--;
    });
    expect({ most, count: round.count, latencies: round.latenciesMs.length }).toEqual({ most: 4, count: 10, latencies: 10 });
    expect(round.latenciesMs).toEqual(round.latenciesMs.toSorted((a, b) => a - b));
  });

  it("fails with the first operation that fails", async () => {
    const failing = measure(2, { seconds: 60, countMax: 10 }, () => Promise.reject(new Error("refused")));
    await expect(failing).rejects.toThrow("refused");
  });
});

describe("Turnstile", () => {
  it("never lends an item twice, and each in its turn", async () => {
    const turnstile = new Turnstile(["a", "b", "c"]);
    const lent = new Set<string>();
    const order: string[] = [];
    await measure(2, { seconds: 60, countMax: 3_000 }, () =>
      turnstile.use(async (item) => {
        expect(lent).not.toContain(item);
        lent.add(item);
        order.push(item);
        await new Promise(setImmediate);
        lent.delete(item);
      }),
    );
    expect(order.slice(0, 6)).toEqual(["a", "b", "c", "a", "b", "c"]);
    expect(order).toHaveLength(3_000);
  });
});
