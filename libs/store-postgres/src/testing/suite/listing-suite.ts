import { randomBytes } from "node:crypto";
import type { ListFilter } from "@forge/engine/ports";
import { describe, expect, it } from "vitest";
import { aListing, anAppend, newNamespace, newStreamId } from "../builders.ts";
import { mustAppend, type Suite } from "./suite.ts";

export function describeListings(suite: Suite): void {
  describe("lists", () => {
    it("lists newest first, page by page, by status, subject and labels", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      // In the order of their ids, which decides between those of one millisecond.
      const ids = Array.from({ length: 12 }, newStreamId).sort();
      for (const [index, streamId] of ids.entries()) {
        const labels = { parity: index % 2 === 0 ? "even" : "odd", ...(index === 7 ? { rare: 'quote " and 漢字' } : {}) };
        const listing = aListing({ labels, subject: index < 6 ? "triage" : "review", title: `run ${index}` });
        await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, listing }));
      }
      // Two of one moment, where the id decides.
      const twins = [newStreamId(), newStreamId()].sort();
      await mustAppend(store, ...twins.map((streamId) => anAppend({ namespace, streamId, expectedSeq: 0, listing: aListing({ labels: { twin: "yes" } }) })));
      await mustAppend(store, anAppend({ namespace, streamId: newStreamId(), kind: "session", expectedSeq: 0, listing: aListing() }));
      const newestFirst = [...twins.toReversed(), ...ids.toReversed()];

      const listed = async (filter: Partial<ListFilter>): Promise<string[]> => {
        const found: string[] = [];
        let before: ListFilter["before"];
        for (;;) {
          const page = await store.list(namespace, { kind: "run", labels: {}, limit: 5, ...(before === undefined ? {} : { before }), ...filter });
          found.push(...page.map(({ streamId }) => streamId));
          before = page.at(-1);
          if (page.length < 5) return found;
        }
      };
      expect(await listed({})).toEqual(newestFirst);
      expect(await listed({ subject: "review" })).toEqual(ids.slice(6).toReversed());
      expect(await listed({ labels: { parity: "even" } })).toEqual(ids.filter((_, index) => index % 2 === 0).toReversed());
      expect(await listed({ labels: { parity: "odd", rare: 'quote " and 漢字' } })).toEqual([ids[7]]);
      expect(await listed({ labels: { parity: "even", rare: 'quote " and 漢字' } })).toEqual([]);
      expect(await listed({ status: "RUN_STATUS_FAILED" })).toEqual([]);
      expect(await listed({ kind: "session" })).toHaveLength(1);
      expect(await store.list(newNamespace(), { kind: "run", labels: {}, limit: 5 })).toEqual([]);
    });

    it("lists what was created in a range of time, its beginning included and its end not", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      const ids = [newStreamId(), newStreamId(), newStreamId()];
      for (const streamId of ids) await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, listing: aListing() }));
      const times = [1_000.123, 2_000, 3_000].map((seconds) => Math.round(seconds * 1_000));
      for (const [index, streamId] of ids.entries()) {
        await pool.query("update forge.listing set created_at = to_timestamp($1::float8 / 1000) where stream_id = $2", [times[index], streamId]);
      }
      const listed = async (filter: Partial<ListFilter>) =>
        (await store.list(namespace, { kind: "run", labels: {}, limit: 5, ...filter })).map(({ streamId }) => streamId);
      const [oldest, middle, newest] = ids;
      expect(await listed({ createdFromMs: 1_000_123 })).toEqual([newest, middle, oldest]);
      expect(await listed({ createdFromMs: 1_000_124 })).toEqual([newest, middle]);
      expect(await listed({ createdBeforeMs: 2_000_000 })).toEqual([oldest]);
      expect(await listed({ createdFromMs: 2_000_000, createdBeforeMs: 3_000_000 })).toEqual([middle]);
      expect(await listed({ createdFromMs: -62_135_596_800_000, createdBeforeMs: 253_402_300_799_000, limit: 2 })).toEqual([newest, middle]);
    });

    it("shows the row as it was last written, with the time of its creation kept", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const listing = aListing({ labels: { team: "core" }, detailStatus: "TURN_STATUS_RUNNING" });
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, listing }));
      const [created] = await store.list(namespace, { kind: "run", labels: {}, limit: 1 });
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 1, listing: { ...listing, status: "RUN_STATUS_COMPLETED", title: "Done" } }));
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 2 }));

      const [row] = await store.list(namespace, { kind: "run", status: "RUN_STATUS_COMPLETED", labels: { team: "core" }, limit: 1 });
      const { approvals: _, ...shown } = { ...listing, status: "RUN_STATUS_COMPLETED", title: "Done" };
      expect(row).toEqual({ ...shown, streamId, archived: false, createdAtMs: created?.createdAtMs, updatedAtMs: expect.any(Number) });
      expect(row?.updatedAtMs).toBeGreaterThanOrEqual(created?.updatedAtMs ?? Infinity);
    });

    it("reads the rows of given streams, of any kind, passing over those that are not there", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const [run, session, elsewhere] = [newStreamId(), newStreamId(), newStreamId()];
      await mustAppend(
        store,
        anAppend({ namespace, streamId: run, expectedSeq: 0, listing: aListing({ title: "a run", labels: { a: "1" } }) }),
        anAppend({ namespace, streamId: session, kind: "session", expectedSeq: 0, listing: aListing({ status: "SESSION_STATUS_ACTIVE" }) }),
        anAppend({ namespace: newNamespace(), streamId: elsewhere, expectedSeq: 0, listing: aListing() }),
      );
      const rows = await store.listed(namespace, [session, elsewhere, run, newStreamId(), "no-uuid"]);
      const [listedRun] = await store.list(namespace, { kind: "run", labels: {}, limit: 1 });
      expect(rows.toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toEqual([
        { ...listedRun, kind: "run" },
        expect.objectContaining({ kind: "session", streamId: session, status: "SESSION_STATUS_ACTIVE" }),
      ]);
      expect(await store.listed(namespace, [])).toEqual([]);
    });

    it("pages through streams with approvals that wait", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const ids = [newStreamId(), newStreamId(), newStreamId()].sort();
      const approvals = [randomBytes(50), Buffer.alloc(0), Buffer.from([0, 92, 34, 255])];
      await mustAppend(
        store,
        ...ids.map((streamId, index) =>
          anAppend({ namespace, streamId, kind: "session", expectedSeq: 0, listing: aListing({ approvals: approvals.slice(index) }) }),
        ),
        anAppend({ namespace, streamId: newStreamId(), expectedSeq: 0, listing: aListing() }),
      );
      const first = await store.pendingApprovals(namespace, { limit: 2 });
      expect(first.map(({ streamId, kind, approvals }) => [streamId, kind, approvals.map((bytes) => Buffer.from(bytes))])).toEqual([
        [ids[0], "session", approvals],
        [ids[1], "session", approvals.slice(1)],
      ]);
      expect((await store.pendingApprovals(namespace, { limit: 2, afterStreamId: ids[1] })).map(({ streamId }) => streamId)).toEqual([ids[2]]);
      expect((await store.pendingApprovals(namespace, { limit: 2, streamId: ids[1] })).map(({ streamId }) => streamId)).toEqual([ids[1]]);

      await mustAppend(store, anAppend({ namespace, streamId: ids[2] as string, expectedSeq: 1, listing: aListing() }));
      expect(await store.pendingApprovals(namespace, { limit: 10, streamId: ids[2] })).toEqual([]);
    });

    it("pages through the streams whose status is not final", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const statuses = [
        "RUN_STATUS_RUNNING",
        "RUN_STATUS_CANCELLING",
        "SESSION_STATUS_ACTIVE",
        "RUN_STATUS_COMPLETED",
        "RUN_STATUS_FAILED",
        "SESSION_STATUS_CLOSED",
      ];
      const ids = statuses.map(newStreamId);
      await mustAppend(
        store,
        ...ids.map((streamId, index) => anAppend({ namespace, streamId, expectedSeq: 0, listing: aListing({ status: statuses[index] as string }) })),
      );

      const open: string[] = [];
      let after: { namespace: string; streamId: string } | undefined;
      for (;;) {
        const page = await store.openStreams(after, 2);
        open.push(...page.filter((stream) => stream.namespace === namespace).map(({ streamId }) => streamId));
        after = page.at(-1);
        if (after === undefined) break;
      }
      expect(open).toEqual(ids.slice(0, 3).toSorted());
    });
  });
}
