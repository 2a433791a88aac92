import { randomUUID } from "node:crypto";
import type { EndedRun } from "@forge/engine/ports";
import { describe, expect, it } from "vitest";
import { aCommand, aListing, anAppend, aTask, eventsFrom, newNamespace, newStreamId } from "../builders.ts";
import { mustAppend, type Suite } from "./suite.ts";

const ARCHIVE = "ab".repeat(32);
const PART = "cd".repeat(32);
const CONTENT = "ef".repeat(32);
const COMMAND = "the-command-that-made-it";

export function describeArchives(suite: Suite): void {
  /** A run of five seqs, the third of which is a delta. */
  async function anEndedRun(namespace: string, status = "RUN_STATUS_COMPLETED"): Promise<string> {
    const streamId = newStreamId();
    const made = anAppend({ namespace, streamId, expectedSeq: 0, events: eventsFrom(1, 2), commands: [aCommand(2, COMMAND)], artifacts: [CONTENT] });
    await mustAppend(suite.store, made);
    await mustAppend(suite.store, anAppend({ namespace, streamId, expectedSeq: 2, deltas: true }));
    await mustAppend(suite.store, anAppend({ namespace, streamId, expectedSeq: 3, events: eventsFrom(4, 2), listing: aListing({ status }) }));
    return streamId;
  }

  const tables = ["event", "delta", "delta_pruned", "snapshot", "command"];
  async function rowsOf(namespace: string, streamId: string): Promise<number> {
    const counts = tables.map((table) => `(select count(*) from forge.${table} where ns = $1 and stream_id = $2)`).join(" + ");
    const { rows } = await suite.pool.query(`select (${counts})::int as count`, [namespace, streamId]);
    return rows[0].count;
  }

  const archived = (namespace: string, streamId: string, seq = 5) => ({ namespace, streamId, seq, archive: ARCHIVE, artifacts: [ARCHIVE, PART, PART] });

  describe("archives", () => {
    it("drops an archived run's rows in one go, keeps what it refers to, and leaves a head that names the archive", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      const [streamId, bystander] = [await anEndedRun(namespace), await anEndedRun(namespace)];
      await store.saveSnapshot(namespace, streamId, 2, 1, Buffer.from("at 2"));
      expect(await rowsOf(namespace, streamId)).toBe(7);

      expect(await store.archiveStream(archived(namespace, streamId))).toBe(true);
      expect(await rowsOf(namespace, streamId)).toBe(0);
      expect(await store.heads([{ namespace, streamId }])).toEqual([{ namespace, streamId, kind: "run", seq: 6 }]);
      expect(await store.load(namespace, streamId, 1)).toEqual({ kind: "run", seq: 6, snapshot: undefined, events: [], archive: ARCHIVE });
      const page = await store.readEvents(namespace, streamId, { afterSeq: 0, limit: 10, deltas: true });
      expect(page).toEqual({ events: [], headSeq: 6, prunedThroughSeq: 6, archive: ARCHIVE });
      const { rows } = await pool.query("select sha256 from forge.artifact_reference where ns = $1 and stream_id = $2 order by sha256", [namespace, streamId]);
      expect(rows.map(({ sha256 }) => sha256)).toEqual([ARCHIVE, PART, CONTENT]);
      const list = await store.list(namespace, { kind: "run", labels: {}, limit: 10 });
      expect(Object.fromEntries(list.map((row) => [row.streamId, row.archived]))).toEqual({ [streamId]: true, [bystander]: false });
      expect((await store.readEvents(namespace, bystander, { afterSeq: 0, limit: 10, deltas: true })).events).toHaveLength(5);
      expect(await store.archiveStream(archived(namespace, streamId, 6))).toBe(false);
    });

    it("lets nobody append who decided on the head before, whether he reads it again or makes it anew", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      const streamId = await anEndedRun(namespace, "RUN_STATUS_FAILED");
      expect(await store.archiveStream(archived(namespace, streamId))).toBe(true);
      const resumed = anAppend({ namespace, streamId, expectedSeq: 5, listing: aListing() });
      expect(await other.append([resumed])).toEqual([{ outcome: "conflict", seq: 6 }]);
      const again = anAppend({ namespace, streamId, expectedSeq: 0, commands: [aCommand(1, COMMAND)] });
      expect(await other.append([again])).toEqual([{ outcome: "conflict", seq: 6 }]);
      expect(await rowsOf(namespace, streamId)).toBe(0);
      // A replica that was slow to write its snapshot brings nothing back.
      await other.saveSnapshot(namespace, streamId, 5, 1, Buffer.from("at 5"));
      expect(await store.load(namespace, streamId, 1)).toMatchObject({ archive: ARCHIVE });
    });

    it("does nothing where the head has moved, a task waits, the stream is no run or does not exist", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const moved = await anEndedRun(namespace);
      expect(await store.archiveStream(archived(namespace, moved, 4))).toBe(false);
      const busy = await anEndedRun(namespace);
      await mustAppend(
        store,
        anAppend({ namespace, streamId: busy, expectedSeq: 5, addTasks: [aTask({ key: "command:1", kind: "command", route: "command" })] }),
      );
      expect(await store.archiveStream(archived(namespace, busy, 6))).toBe(false);
      const session = newStreamId();
      await mustAppend(store, anAppend({ namespace, streamId: session, kind: "session", expectedSeq: 0 }));
      expect(await store.archiveStream(archived(namespace, session, 1))).toBe(false);
      for (const nothing of [randomUUID(), "no-uuid"]) expect(await store.archiveStream(archived(namespace, nothing, 5))).toBe(false);
      expect(await store.archiveStream(archived(newNamespace(), moved, 5))).toBe(false);
      expect(await rowsOf(namespace, moved)).toBe(6);
    });

    it("is done once by two at the same moment, and never beside an append", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      for (let round = 0; round < 20; round++) {
        const streamId = await anEndedRun(namespace);
        const [one, two, [appended]] = await Promise.all([
          store.archiveStream(archived(namespace, streamId)),
          other.archiveStream(archived(namespace, streamId)),
          store.append([anAppend({ namespace, streamId, expectedSeq: 5 })]),
        ]);
        expect([one, two, appended?.outcome === "ok"].filter(Boolean)).toHaveLength(1);
        expect(await rowsOf(namespace, streamId)).toBe(one || two ? 0 : 7);
      }
    });

    it("pages through what ended, oldest end first, without what is open, archived or too young", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      const ids: string[] = [];
      for (const status of ["RUN_STATUS_COMPLETED", "RUN_STATUS_FAILED", "RUN_STATUS_CANCELLED", "RUN_STATUS_COMPLETED_WITH_ERRORS"]) {
        ids.push(await anEndedRun(namespace, status));
      }
      await anEndedRun(namespace, "RUN_STATUS_RUNNING");
      const [gone] = ids as [string];
      await store.archiveStream(archived(namespace, gone));
      for (const [index, id] of ids.entries()) {
        await pool.query("update forge.listing set updated_at = date_trunc('milliseconds', now()) - $3 * interval '1 day' where ns = $1 and stream_id = $2", [
          namespace,
          id,
          10 * (index + 1),
        ]);
      }
      const idsOf = (runs: readonly EndedRun[]) => runs.map(({ streamId }) => streamId);
      const expected = ids.slice(1).toReversed();
      expect(idsOf(await store.endedRuns({ olderThanMs: 0, namespace, limit: 10 }))).toEqual(expected);
      expect(idsOf(await store.endedRuns({ olderThanMs: 25 * 86_400_000, namespace, limit: 10 }))).toEqual(expected.slice(0, 2));
      expect(idsOf(await store.endedRuns({ olderThanMs: 0, namespace: newNamespace(), limit: 10 }))).toEqual([]);
      const paged: EndedRun[] = [];
      for (let after: EndedRun | undefined; ; ) {
        const page = await store.endedRuns({ olderThanMs: 0, namespace, limit: 1, ...(after === undefined ? {} : { after }) });
        if (page.length === 0) break;
        paged.push(...page);
        after = page[0];
      }
      expect(idsOf(paged)).toEqual(expected);
      expect(idsOf(await store.endedRuns({ olderThanMs: 0, limit: 500 }))).toEqual(expect.arrayContaining(expected));
    });
  });
}
