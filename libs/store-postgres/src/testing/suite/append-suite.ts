import { randomBytes } from "node:crypto";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { aCommand, aListing, anAppend, aTask, eventsFrom, newNamespace, newStreamId } from "../builders.ts";
import { mustAppend, type Suite } from "./suite.ts";

export function describeAppend(suite: Suite): void {
  describe("append", () => {
    it("creates streams and appends to others in one batch, with one outcome each, in order", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const [a, b, c] = [newStreamId(), newStreamId(), newStreamId()];
      await mustAppend(store, anAppend({ namespace, streamId: b, expectedSeq: 0, events: eventsFrom(1, 2) }));

      const outcomes = await store.append([
        anAppend({ namespace, streamId: a, expectedSeq: 0, events: eventsFrom(1, 3) }),
        anAppend({ namespace, streamId: b, expectedSeq: 2 }),
        anAppend({ namespace, streamId: c, expectedSeq: 4 }),
      ]);

      expect(outcomes).toEqual([{ outcome: "ok" }, { outcome: "ok" }, { outcome: "conflict", seq: 0 }]);
      expect((await store.load(namespace, a, 1))?.events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      expect((await store.load(namespace, b, 1))?.seq).toBe(3);
      expect(await store.load(namespace, c, 1)).toBeUndefined();
    });

    it("answers conflict with the head's seq where it has moved, for a create too, and does nothing", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, events: eventsFrom(1, 3) }));

      const stale = { commands: [aCommand(2)], addTasks: [aTask({ key: "t" })], listing: aListing(), artifacts: ["0".repeat(64)] };
      expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 1, ...stale })])).toEqual([{ outcome: "conflict", seq: 3 }]);
      expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 0, ...stale })])).toEqual([{ outcome: "conflict", seq: 3 }]);

      expect((await store.load(namespace, streamId, 1))?.seq).toBe(3);
      expect(await store.tasksOf(namespace, streamId)).toEqual([]);
      expect(await store.list(namespace, { kind: "run", labels: {}, limit: 10 })).toEqual([]);
    });

    it("answers seen where a command has its record, before conflict, and keeps the first record", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const command = aCommand(1);
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, commands: [command] }));

      const again = { ...command, result: Buffer.from("another") };
      expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 0, commands: [again] })])).toEqual([{ outcome: "seen" }]);
      expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 1, commands: [aCommand(2), again] })])).toEqual([{ outcome: "seen" }]);

      const [record, ...more] = await store.findCommands(namespace, streamId, [command.commandId, "unknown"]);
      expect(more).toEqual([]);
      expect(record).toMatchObject({ commandId: command.commandId, seq: 1, resultType: command.resultType });
      expect(Buffer.from(record?.result ?? [])).toEqual(command.result);
      expect(Buffer.from(record?.digest ?? [])).toEqual(command.digest);
      expect(Math.abs((record?.decidedAtMs ?? 0) - Date.now())).toBeLessThan(60_000);
    });

    it("lets the same command win once when two replicas send it at once", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      for (const expectedSeq of [0, 1]) {
        for (let round = 0; round < 10; round++) {
          const streamId = newStreamId();
          if (expectedSeq > 0) await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0 }));
          const append = anAppend({ namespace, streamId, expectedSeq, commands: [aCommand(expectedSeq + 1)] });
          const outcomes = (await Promise.all([store.append([append]), other.append([append])])).map(([outcome]) => outcome?.outcome);
          expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(1);
          expect(["seen", "conflict", "busy"]).toContain(outcomes.find((outcome) => outcome !== "ok"));
          // However the race went, asking once more tells.
          expect(await other.append([append])).toEqual([{ outcome: "seen" }]);
          expect((await store.load(namespace, streamId, 1))?.seq).toBe(expectedSeq + 1);
        }
      }
    });

    it("answers busy at once where somebody holds the head, and goes on with the others", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      const [held, free] = [newStreamId(), newStreamId()];
      await mustAppend(store, anAppend({ namespace, streamId: held, expectedSeq: 0 }), anAppend({ namespace, streamId: free, expectedSeq: 0 }));

      const holder = await pool.connect();
      try {
        await holder.query("begin");
        await holder.query("select from forge.stream where ns = $1 and id = $2 for update", [namespace, held]);
        const batch = [anAppend({ namespace, streamId: held, expectedSeq: 1 }), anAppend({ namespace, streamId: free, expectedSeq: 1 })];
        expect(await store.append(batch)).toEqual([{ outcome: "busy" }, { outcome: "ok" }]);
        // A stale create does not wait for whoever moves the head either.
        await holder.query("update forge.stream set seq = seq where ns = $1 and id = $2", [namespace, held]);
        expect(await store.append([anAppend({ namespace, streamId: held, expectedSeq: 0 })])).toEqual([{ outcome: "conflict", seq: 1 }]);
      } finally {
        await holder.query("rollback");
        holder.release();
      }
      expect(await store.append([anAppend({ namespace, streamId: held, expectedSeq: 1 })])).toEqual([{ outcome: "ok" }]);
    });

    it("gives the error to the one append whose data is refused, and does all the others", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const ids = Array.from({ length: 9 }, newStreamId);
      await mustAppend(store, ...ids.slice(0, 6).map((streamId) => anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "there" })] })));

      const culprits = new Map<number, Partial<Parameters<typeof anAppend>[0]>>([
        [1, { commands: [aCommand(2, "nul \0 inside")] }],
        [3, { addTasks: [aTask({ key: "there" })] }],
        [5, { listing: aListing({ labels: { a: "\0" } }) }],
        [7, { events: [{ seq: 1, kind: "nul \0", bytes: Buffer.alloc(1) }] }],
        [8, { addTasks: [aTask({ key: "there" }), aTask({ key: "there" })] }],
      ]);
      const outcomes = await store.append(
        ids.map((streamId, index) => anAppend({ namespace, streamId, expectedSeq: index < 6 ? 1 : 0, commands: [aCommand(1)], ...culprits.get(index) })),
      );

      expect(outcomes.map(({ outcome }) => outcome)).toEqual(ids.map((_, index) => (culprits.has(index) ? "error" : "ok")));
      expect(outcomes[3]).toMatchObject({ message: expect.stringContaining("duplicate key") });
      const seqs = new Map((await store.heads(ids.map((streamId) => ({ namespace, streamId })))).map(({ streamId, seq }) => [streamId, seq]));
      expect(ids.map((id) => seqs.get(id))).toEqual([2, 1, 2, 1, 2, 1, 1, undefined, undefined]);
    });

    it("refuses an id that is no UUID with an error of its own, and a batch that holds a stream twice as a bug", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const outcomes = await store.append([anAppend({ namespace, streamId: "no-uuid", expectedSeq: 0 }), anAppend({ namespace, streamId, expectedSeq: 0 })]);
      expect(outcomes).toEqual([{ outcome: "error", message: expect.stringContaining("no-uuid") }, { outcome: "ok" }]);
      const twice = [anAppend({ namespace, streamId, expectedSeq: 1 }), anAppend({ namespace, streamId, expectedSeq: 1 })];
      await expect(store.append(twice)).rejects.toMatchObject({ code: ErrorCode.INTERNAL });
      expect(await store.append([])).toEqual([]);
    });

    it("keeps every byte and every character, and the same stream id apart in two namespaces", async () => {
      const { store } = suite;
      const [first, second, streamId] = [newNamespace(), newNamespace(), newStreamId()];
      const bytes = Buffer.concat([Buffer.from([0, 255, 92, 34, 123]), randomBytes(100_000)]);
      const commandId = `quotes " ' \\ {} , NULL é漢字😀`;
      await mustAppend(
        store,
        anAppend({ namespace: first, streamId, expectedSeq: 0, events: [{ seq: 1, kind: "message.added", bytes }], commands: [aCommand(1, commandId)] }),
      );
      expect(await store.load(second, streamId, 1)).toBeUndefined();
      await mustAppend(store, anAppend({ namespace: second, streamId, expectedSeq: 0 }));

      const loaded = await store.load(first, streamId, 1);
      expect(loaded?.events).toHaveLength(1);
      expect(Buffer.from(loaded?.events[0]?.bytes ?? []).equals(bytes)).toBe(true);
      expect((await store.findCommands(first, streamId, [commandId])).map((command) => command.commandId)).toEqual([commandId]);
      expect(await store.findCommands(second, streamId, [commandId])).toEqual([]);
    });

    it("appends more than a thousand streams in one batch", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const ids = Array.from({ length: 1_100 }, newStreamId);
      await mustAppend(store, ...ids.map((streamId) => anAppend({ namespace, streamId, expectedSeq: 0 })));
      await mustAppend(store, ...ids.map((streamId) => anAppend({ namespace, streamId, expectedSeq: 1, commands: [aCommand(2)] })));
      expect(await store.heads(ids.map((streamId) => ({ namespace, streamId })))).toHaveLength(ids.length);
    });
  });
}
