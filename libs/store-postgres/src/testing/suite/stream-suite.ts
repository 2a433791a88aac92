import { createHash, randomBytes } from "node:crypto";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { anAppend, eventsFrom, newNamespace, newStreamId } from "../builders.ts";
import { mustAppend, type Suite } from "./suite.ts";

export function describeStreams(suite: Suite): void {
  describe("streams", () => {
    it("loads from the newest snapshot of the asked reducer version, and never goes back to an older one", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      await mustAppend(store, anAppend({ namespace, streamId, kind: "session", expectedSeq: 0, events: eventsFrom(1, 5) }));
      await store.saveSnapshot(namespace, streamId, 4, 2, Buffer.from("at 4"));
      await store.saveSnapshot(namespace, streamId, 3, 2, Buffer.from("at 3"));

      const loaded = await store.load(namespace, streamId, 2);
      expect(loaded).toMatchObject({ kind: "session", seq: 5, snapshot: { seq: 4 } });
      expect(Buffer.from(loaded?.snapshot?.bytes ?? []).toString()).toBe("at 4");
      expect(loaded?.events.map(({ seq, kind, bytes }) => [seq, kind, Buffer.from(bytes).toString()])).toEqual([[5, "turn.started", "event 5"]]);

      const other = await store.load(namespace, streamId, 1);
      expect(other?.snapshot).toBeUndefined();
      expect(other?.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);

      const rest = await store.load(namespace, streamId, 2, 2);
      expect(rest?.snapshot).toBeUndefined();
      expect(rest?.events.map(({ seq }) => seq)).toEqual([3, 4, 5]);
    });

    it("keeps deltas apart: they share the seq, folds do not read them, pruning says how far", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0 }));
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 1, events: eventsFrom(2, 3), deltas: true }));
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 4, events: eventsFrom(5, 2) }));

      const loaded = await store.load(namespace, streamId, 1);
      expect(loaded?.seq).toBe(6);
      expect(loaded?.events.map(({ seq }) => seq)).toEqual([1, 5, 6]);

      const read = async (deltas: boolean, afterSeq = 0, limit = 100, throughSeq?: number) => {
        const page = await store.readEvents(namespace, streamId, { afterSeq, limit, deltas, ...(throughSeq === undefined ? {} : { throughSeq }) });
        return { ...page, events: page.events.map(({ seq }) => seq) };
      };
      expect(await read(true)).toEqual({ events: [1, 2, 3, 4, 5, 6], headSeq: 6, prunedThroughSeq: 0 });
      expect(await read(false)).toEqual({ events: [1, 5, 6], headSeq: 6, prunedThroughSeq: 0 });
      expect(await read(true, 1, 3)).toEqual({ events: [2, 3, 4], headSeq: 6, prunedThroughSeq: 0 });
      expect(await read(true, 2, 100, 5)).toEqual({ events: [3, 4, 5], headSeq: 6, prunedThroughSeq: 0 });
      expect(await read(true, 6)).toEqual({ events: [], headSeq: 6, prunedThroughSeq: 0 });

      await store.pruneDeltas(namespace, streamId, 3);
      expect(await read(true)).toEqual({ events: [1, 4, 5, 6], headSeq: 6, prunedThroughSeq: 3 });
      await store.pruneDeltas(namespace, streamId, 2);
      expect((await read(true)).prunedThroughSeq).toBe(3);
      await store.pruneDeltas(namespace, streamId, 1_000);
      expect(await read(true)).toEqual({ events: [1, 5, 6], headSeq: 6, prunedThroughSeq: 6 });
    });

    it("reads events of some kinds only, where some are named", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const kinds = ["a.x", "a.y", "a.x", "a.z", "a.x"];
      const events = eventsFrom(1, kinds.length).map((event, index) => ({ ...event, kind: kinds[index] ?? "" }));
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, events }));
      const read = async (range: { afterSeq: number; limit: number; kinds?: readonly string[] }) =>
        (await store.readEvents(namespace, streamId, { deltas: false, ...range })).events.map(({ seq }) => seq);
      expect(await read({ afterSeq: 0, limit: 10, kinds: ["a.x", "a.z"] })).toEqual([1, 3, 4, 5]);
      expect(await read({ afterSeq: 1, limit: 2, kinds: ["a.x"] })).toEqual([3, 5]);
      expect(await read({ afterSeq: 0, limit: 10, kinds: [] })).toEqual([]);
      expect(await read({ afterSeq: 3, limit: 10 })).toEqual([4, 5]);
    });

    it("answers what does not exist with nothing, and an id that is no UUID in the same way", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      for (const streamId of [newStreamId(), "no-uuid", ""]) {
        expect(await store.load(namespace, streamId, 1)).toBeUndefined();
        expect(await store.readEvents(namespace, streamId, { afterSeq: 0, limit: 10, deltas: true })).toEqual({ events: [], headSeq: 0, prunedThroughSeq: 0 });
        expect(await store.heads([{ namespace, streamId }])).toEqual([]);
        expect(await store.findCommands(namespace, streamId, ["c"])).toEqual([]);
        expect(await store.tasksOf(namespace, streamId)).toEqual([]);
        expect(await store.repairTasks(namespace, streamId, 0, { add: [], remove: [], cancel: [] })).toBe(false);
        await store.pruneDeltas(namespace, streamId, 10);
      }
    });

    it("reads head and events of one moment while others append", async () => {
      const { store, other } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0 }));
      let writing = true;
      const writer = (async () => {
        for (let seq = 1; seq < 60; seq++) await mustAppend(other, anAppend({ namespace, streamId, expectedSeq: seq, deltas: seq % 3 === 0 }));
        writing = false;
      })();
      while (writing) {
        const loaded = await store.load(namespace, streamId, 1);
        const folded = loaded?.events.map(({ seq }) => seq) ?? [];
        expect(folded).toEqual(Array.from({ length: loaded?.seq ?? 0 }, (_, index) => index + 1).filter((seq) => seq === 1 || (seq - 1) % 3 !== 0));
        const page = await store.readEvents(namespace, streamId, { afterSeq: 0, limit: 1_000, deltas: true });
        expect(page.events.map(({ seq }) => seq)).toEqual(Array.from({ length: page.headSeq }, (_, index) => index + 1));
      }
      await writer;
    });
  });

  describe("artifacts", () => {
    it("keeps content by its hash in its namespace, once", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      const content = randomBytes(200_000);
      const sha256 = createHash("sha256").update(content).digest("hex");
      expect(await store.getArtifact(namespace, sha256)).toBeUndefined();
      await store.putArtifact(namespace, sha256, "text/plain", content);
      await store.putArtifact(namespace, sha256, "text/plain", content);
      const found = await store.getArtifact(namespace, sha256);
      expect(found?.mediaType).toBe("text/plain");
      expect(Buffer.from(found?.content ?? []).equals(content)).toBe(true);
      expect(await store.getArtifact(newNamespace(), sha256)).toBeUndefined();
      await expect(store.putArtifact(namespace, "0".repeat(64), "text/plain", content)).rejects.toMatchObject({ code: ErrorCode.VALIDATION });
      await expect(store.putArtifact(namespace, sha256, "text/plain", Buffer.alloc(16 * 1024 * 1024 + 1))).rejects.toMatchObject({
        code: ErrorCode.VALIDATION,
      });

      await pool.query("update forge.artifact set content = 'other' where ns = $1", [namespace]);
      await expect(store.getArtifact(namespace, sha256)).rejects.toMatchObject({ code: ErrorCode.STORAGE_ERROR, reason: "ARTIFACT_DAMAGED" });
    });

    it("records with the append which artifacts a stream refers to, each once", async () => {
      const { store, pool } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const [a, b] = ["a".repeat(64), "b".repeat(64)];
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, artifacts: [a, a] }));
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 1, artifacts: [a, b] }));
      const { rows } = await pool.query("select sha256 from forge.artifact_reference where ns = $1 and stream_id = $2 order by sha256", [namespace, streamId]);
      expect(rows).toEqual([{ sha256: a }, { sha256: b }]);
    });
  });
}
