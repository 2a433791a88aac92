import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { MessageQueue } from "./message-queue.ts";

async function drain(queue: MessageQueue<number>, into: number[] = []): Promise<number[]> {
  for await (const message of queue.read()) into.push(message);
  return into;
}

describe("messages that wait for a reader", () => {
  it("come in order, before and after he waits, and what waits comes before the end", async () => {
    const queue = new MessageQueue<number>();
    queue.push(1, 1);
    const reading = drain(queue);
    await Promise.resolve();
    queue.push(2, 1);
    queue.push(3, 1);
    queue.end();
    queue.push(4, 1);
    expect(await reading).toEqual([1, 2, 3]);
  });

  it("are followed by the first error", async () => {
    const queue = new MessageQueue<number>();
    queue.push(1, 1);
    queue.end(new Error("first"));
    queue.end(new Error("second"));
    const seen: number[] = [];
    await expect(drain(queue, seen)).rejects.toThrow("first");
    expect(seen).toEqual([1]);
  });

  it("end him alone when he is too far behind, with what he can resume from, and a single one is never too large", async () => {
    const queue = new MessageQueue<number>();
    queue.push(1, 1e9);
    queue.push(2, 1);
    const seen: number[] = [];
    await expect(drain(queue, seen)).rejects.toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED, reason: "SLOW_SUBSCRIBER", detail: { retryable: true } });
    expect(seen).toEqual([1]);
    const quick = new MessageQueue<number>();
    const reading = drain(quick);
    for (let count = 0; count < 5; count++) {
      quick.push(count, 60e6);
      await new Promise((resolve) => setImmediate(resolve));
    }
    quick.end();
    expect(await reading).toEqual([0, 1, 2, 3, 4]);
  });
});
