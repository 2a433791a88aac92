import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { Suite } from "./suite.ts";

/** Longer than any test. */
const TTL_MS = 120_000;

export function describeReplicas(suite: Suite): void {
  it("knows what every live replica reads, and who joins after an announcement knows of it", async () => {
    const { store, other } = suite;
    // The database is shared with other tests, which keep no replicas.
    const { written } = await store.eventFormats();
    const [newer, older, brief] = [randomUUID(), randomUUID(), randomUUID()];
    try {
      expect(await store.keepReplica({ id: newer, reads: written + 2, ttlMs: TTL_MS })).toMatchObject({ written, readByAll: written + 2 });
      expect(await other.keepReplica({ id: older, reads: written, ttlMs: TTL_MS })).toMatchObject({ written, readByAll: written });
      expect((await store.eventFormats()).replicas).toEqual([newer, older].toSorted());
      await other.dropReplica(older);
      expect(await store.eventFormats()).toMatchObject({ written, readByAll: written + 2 });
      expect(await store.announceFormat(written + 1)).toMatchObject({ written: written + 1, readByAll: written + 2 });
      expect(await other.announceFormat(written)).toMatchObject({ written: written + 1, readByAll: written + 2 });
      expect(await other.keepReplica({ id: older, reads: written, ttlMs: TTL_MS })).toMatchObject({ written: written + 1, readByAll: written });
      await other.dropReplica(older);
      // One whose time has passed counts no more, and its row goes.
      await store.keepReplica({ id: brief, reads: written, ttlMs: 0 });
      expect((await store.keepReplica({ id: newer, reads: written + 2, ttlMs: TTL_MS })).readByAll).toBe(written + 2);
    } finally {
      for (const id of [newer, older, brief]) await store.dropReplica(id);
    }
  });
}
