import { describe, expect, it } from "vitest";
import { Mailboxes } from "./mailboxes.ts";

describe("Mailboxes", () => {
  it("handles the messages of a key in order, one batch after the other", async () => {
    const handled: (readonly number[])[] = [];
    let running = 0;
    const mailboxes = new Mailboxes<number>(
      async (_, messages) => {
        expect(++running).toBe(1);
        await new Promise<void>((resolve) => setImmediate(resolve));
        handled.push(messages);
        running--;
      },
      (error) => {
        throw error;
      },
      { batchMax: 3 },
    );
    for (const message of [1, 2, 3, 4]) mailboxes.post("a", message);
    expect(mailboxes.depth("a")).toBe(4);
    await mailboxes.whenIdle();
    expect(handled).toEqual([[1, 2, 3], [4]]);
    expect(mailboxes.depth("a")).toBe(0);
  });

  it("lets no key wait for another", async () => {
    const handled: string[] = [];
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const mailboxes = new Mailboxes<number>(
      async (key) => {
        if (key === "slow") await held;
        handled.push(key);
        if (key === "quick") release();
      },
      () => undefined,
      { batchMax: 1 },
    );
    mailboxes.post("slow", 1);
    mailboxes.post("quick", 1);
    await mailboxes.whenIdle();
    expect(handled).toEqual(["quick", "slow"]);
  });

  it("goes on after a handler that failed, and tells of it with the messages", async () => {
    const bugs: (readonly number[])[] = [];
    const handled: number[] = [];
    const mailboxes = new Mailboxes<number>(
      async (_, [message]) => {
        if (message === 1) throw new Error("a bug");
        handled.push(message as number);
      },
      (_, messages) => bugs.push(messages),
      { batchMax: 1 },
    );
    mailboxes.post("a", 1);
    mailboxes.post("a", 2);
    await mailboxes.whenIdle();
    expect(bugs).toEqual([[1]]);
    expect(handled).toEqual([2]);
  });
});
