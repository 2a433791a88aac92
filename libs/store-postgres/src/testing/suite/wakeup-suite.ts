import type { Wakeup } from "@forge/engine/ports";
import { describe, expect, it } from "vitest";
import { createPostgresStore } from "../../create-postgres-store.ts";
import { newNamespace, newStreamId } from "../builders.ts";
import type { Suite } from "./suite.ts";

/** A reconnection's first pause is a twentieth of a second; a loaded machine takes longer than the default second. */
const POLL = { timeout: 20_000 };

export function describeWakeups(suite: Suite): void {
  /** Listens on the second store until the test's end and collects what arrives. */
  async function listening(test: (heard: Wakeup[], reconnects: () => number) => Promise<void>): Promise<void> {
    const abort = new AbortController();
    const heard: Wakeup[] = [];
    let reconnects = 0;
    await suite.other.listen(
      (wakeups) => heard.push(...wakeups),
      () => reconnects++,
      abort.signal,
    );
    try {
      await test(heard, () => reconnects);
    } finally {
      abort.abort();
    }
  }

  describe("wake-ups", () => {
    it("reach other replicas, not the sender, coalesced by stream", async () => {
      const { store, other } = suite;
      await listening(async (heard) => {
        const [namespace, a, b] = [newNamespace(), newStreamId(), newStreamId()];
        other.wake([{ namespace, streamId: a, seq: 99, routes: [] }]);
        store.wake([{ namespace, streamId: a, seq: 3, routes: ["q tool:x"] }]);
        store.wake([
          { namespace, streamId: a, seq: 2, routes: ["q tool:x", "q tool:y"] },
          { namespace, streamId: b, seq: 1, routes: [] },
        ]);
        await expect.poll(() => heard.length, POLL).toBeGreaterThanOrEqual(2);
        expect(heard).toEqual([
          { namespace, streamId: a, seq: 3, routes: ["q tool:x", "q tool:y"] },
          { namespace, streamId: b, seq: 1, routes: [] },
        ]);
      });
    });

    it("arrive in as many messages as they need, however many and however large", async () => {
      const { store } = suite;
      await listening(async (heard) => {
        const namespace = newNamespace();
        const many = Array.from({ length: 500 }, (_, index) => ({ namespace, streamId: newStreamId(), seq: index + 1, routes: ["default tool:漢字"] }));
        const routes = Array.from({ length: 300 }, (_, index) => `default tool:${"x".repeat(100)}${index}`);
        const large = { namespace, streamId: newStreamId(), seq: 7, routes };
        store.wake([...many, large]);
        const routesHeard = (): string[] => heard.filter(({ streamId }) => streamId === large.streamId).flatMap((wakeup) => wakeup.routes);
        await expect.poll(() => routesHeard().length, POLL).toBe(routes.length);
        expect(routesHeard()).toEqual(routes);
        expect(heard.filter(({ streamId }) => streamId !== large.streamId)).toEqual(many);
      });
    });

    it("that are too many to keep are dropped, and whoever listens is told that some were", async () => {
      const { store } = suite;
      await listening(async (heard) => {
        const namespace = newNamespace();
        store.wake(Array.from({ length: 10_001 }, () => ({ namespace, streamId: newStreamId(), seq: 1, routes: [] })));
        await expect.poll(() => heard.length, POLL).toBe(10_001);
        expect(heard.filter((wakeup) => wakeup.namespace !== namespace)).toEqual([{ namespace: "", streamId: "", seq: 0, routes: [] }]);
      });
    });

    it("were not sent to one that has just been heard of, which is told so", async () => {
      const abort = new AbortController();
      const known = await createPostgresStore(suite.connection);
      try {
        await known.listen(
          () => undefined,
          () => undefined,
          abort.signal,
        );
        await listening(async (heard) => {
          await expect.poll(() => heard, POLL).toContainEqual({ namespace: "", streamId: "", seq: 0, routes: [] });
        });
      } finally {
        abort.abort();
        await known.close();
      }
    });

    it("go on after both connections are lost, and whoever listened is told", async () => {
      const { store, pool } = suite;
      await listening(async (heard, reconnects) => {
        const kill =
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and (query like 'listen%' or query like '%pg_notify%')";
        store.wake([{ namespace: newNamespace(), streamId: newStreamId(), seq: 1, routes: [] }]);
        await expect.poll(() => heard.length, POLL).toBe(1);
        await pool.query(kill);
        await expect.poll(reconnects, POLL).toBe(1);
        // The sender finds its loss with the next wake-up, which may be the one that is lost.
        const streamId = newStreamId();
        await expect
          .poll(() => {
            store.wake([{ namespace: newNamespace(), streamId, seq: 1, routes: [] }]);
            return heard.some((wakeup) => wakeup.streamId === streamId);
          }, POLL)
          .toBe(true);
      });
    });

    it("are sent only where another store listens, which is known as soon as it does", async () => {
      const { store, pool } = suite;
      const abort = new AbortController();
      // It hears everything and says nothing, so nobody knows of it.
      const spy = await pool.connect();
      const payloads: string[] = [];
      spy.on("notification", ({ payload }) => payloads.push(payload ?? ""));
      await spy.query("listen forge_wakeup");
      try {
        const heardByStore: Wakeup[] = [];
        const alone = { namespace: newNamespace(), streamId: newStreamId(), seq: 1, routes: [] };
        const lonely = await createPostgresStore(suite.connection);
        try {
          await lonely.listen(
            (wakeups) => heardByStore.push(...wakeups),
            () => undefined,
            abort.signal,
          );
          lonely.wake([alone]);
          await listening(async (heard) => {
            const known = { namespace: newNamespace(), streamId: newStreamId(), seq: 1, routes: [] };
            await expect
              .poll(() => {
                lonely.wake([known]);
                return heard;
              }, POLL)
              .toContainEqual(known);
            store.wake([known]);
            await expect.poll(() => heardByStore, POLL).toContainEqual(known);
          });
          expect(payloads.join()).not.toContain(alone.streamId);
        } finally {
          abort.abort();
          await lonely.close();
        }
      } finally {
        spy.release(true);
      }
    });

    it("pass over what anybody else sends on the channel", async () => {
      const { store, pool } = suite;
      await listening(async (heard) => {
        for (const payload of ["", "no json", "null", "[]", '{"from":"x"}', '{"from":"x","wakeups":[1,[],["a","b","c",[]]]}']) {
          await pool.query("select pg_notify('forge_wakeup', $1)", [payload]);
        }
        const wakeup = { namespace: newNamespace(), streamId: newStreamId(), seq: 1, routes: [] };
        store.wake([wakeup]);
        // They arrive in order, so the others have been passed over by then.
        await expect.poll(() => heard.at(-1), POLL).toEqual(wakeup);
        expect(heard.filter(({ namespace }) => !namespace.startsWith("test-"))).toEqual([]);
      });
    });
  });

  describe("incarnation", () => {
    it("is the same for all replicas until an operator changes it", async () => {
      const { store, other, pool } = suite;
      const before = await store.incarnation();
      expect(before).toMatch(/^[0-9a-f-]{36}-[0-9A-F]{8}$/);
      expect(await other.incarnation()).toBe(before);
      await pool.query("update forge.incarnation set id = gen_random_uuid()");
      expect(await store.incarnation()).not.toBe(before);
    });
  });
}
