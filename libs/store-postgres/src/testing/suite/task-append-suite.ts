import { randomBytes } from "node:crypto";
import type { LeaseProof, StoredTask } from "@forge/engine/ports";
import { describe, expect, it } from "vitest";
import { aCommand, anAppend, aTask, newNamespace, newStreamId } from "../builders.ts";
import { mustAppend, type Suite } from "./suite.ts";

/** What a holder proves its lease with. */
export function proofOf(task: StoredTask | undefined): LeaseProof {
  if (task?.token === undefined) throw new Error("The task has no lease.");
  return { streamId: task.streamId, key: task.key, epoch: task.epoch, token: task.token };
}

export function describeTaskAppends(suite: Suite): void {
  describe("tasks in an append", () => {
    it("adds tasks, born leased or waiting, due now by the server's clock or later", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const token = randomBytes(16);
      const dueAtMs = Date.now() + 3_600_000;
      await mustAppend(
        store,
        anAppend({
          namespace,
          streamId,
          kind: "session",
          expectedSeq: 0,
          addTasks: [
            aTask({ key: "a-born", lease: { owner: "worker-1", token, ttlMs: 60_000 } }),
            aTask({ key: "b-waiting", needsStart: false, idempotent: true }),
            aTask({ key: "c-timer", kind: "timer", route: "timer", dueAtMs: dueAtMs + 0.5 }),
          ],
        }),
      );
      const [born, waiting, timer] = await store.tasksOf(namespace, streamId);
      expect(born).toMatchObject({
        streamKind: "session",
        kind: "work",
        route: "default tool:echo",
        epoch: 1,
        owner: "worker-1",
        needsStart: true,
        idempotent: false,
      });
      expect(Buffer.from(born?.token ?? []).equals(token)).toBe(true);
      expect(Buffer.from(born?.bytes ?? []).toString()).toBe("task a-born");
      expect((born?.leaseUntilMs ?? 0) - (born?.dueAtMs ?? 0)).toBe(60_000);
      expect(waiting).toMatchObject({
        epoch: 0,
        owner: undefined,
        token: undefined,
        leaseUntilMs: undefined,
        started: false,
        needsStart: false,
        idempotent: true,
      });
      expect(timer).toMatchObject({ kind: "timer", dueAtMs });
    });

    it("is fenced where two commands of one append prove different leases of one task", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const [stale, present] = [randomBytes(16), randomBytes(16)];
      await mustAppend(
        store,
        anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "a", lease: { owner: "w", token: present, ttlMs: 60_000 } })] }),
      );
      const proofs = [
        { streamId, key: "a", epoch: 1, token: stale },
        { streamId, key: "a", epoch: 1, token: present },
      ];
      for (const requires of [proofs, proofs.toReversed()]) {
        expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 1, requires, starts: ["a"] })])).toEqual([{ outcome: "fenced" }]);
      }
      expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 1, requires: proofs.slice(1), starts: ["a"] })])).toEqual([{ outcome: "ok" }]);
    });

    it("adds a task that was asked to stop before it was given out, for nobody to do and for someone to settle", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "a", cancelRequested: true })] }));
      expect(await store.leaseTasks({ namespace, routes: ["default tool:echo"], owner: "w", ttlMs: 1000, limit: 10 })).toEqual([]);
      expect((await store.leaseCancelled({ owner: "replica", ttlMs: 1000, limit: 10, streamId })).map((task) => task.key)).toEqual(["a"]);
    });

    it("fails only the append whose data has no place in its column", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const ids = [newStreamId(), newStreamId(), newStreamId()] as const;
      const lease = { owner: "w", token: randomBytes(16), ttlMs: 60_000 };
      await store.append(ids.map((streamId) => anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "a", lease })] })));
      const next = (streamId: string, epoch: number, artifact: string) =>
        anAppend({ namespace, streamId, expectedSeq: 1, requires: [{ streamId, key: "a", epoch, token: lease.token }], artifacts: [artifact] });
      const outcomes = await store.append([
        next(ids[0], 1, "a".repeat(64)),
        next(ids[1], 2 ** 31, "a".repeat(64)),
        next(ids[2], 1, randomBytes(12_000).toString("hex")),
      ]);
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(["ok", "error", "error"]);
    });

    it("starts and settles under the proof of the lease, and is fenced by another token, a later epoch or a task that is gone", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const token = randomBytes(16);
      const lease = { owner: "worker-1", token, ttlMs: 60_000 };
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "t", lease }), aTask({ key: "u", lease })] }));
      const proof = { streamId, key: "t", epoch: 1, token };

      const wrong = [
        { ...proof, token: randomBytes(16) },
        { ...proof, epoch: 2 },
        { ...proof, key: "gone" },
        { ...proof, streamId: newStreamId() },
      ];
      for (const required of wrong) {
        const append = anAppend({ namespace, streamId, expectedSeq: 1, requires: [{ ...proof, key: "u" }, required], settles: [required] });
        expect(await store.append([append])).toEqual([{ outcome: "fenced" }]);
      }
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 1, requires: [proof], starts: ["t"], commands: [aCommand(2)] }));
      expect((await store.tasksOf(namespace, streamId)).map(({ key, started }) => [key, started])).toEqual([
        ["t", true],
        ["u", false],
      ]);
      const next = { addTasks: [aTask({ key: "v" })] };
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 2, requires: [proof], settles: [proof], commands: [aCommand(3)], ...next }));
      expect((await store.tasksOf(namespace, streamId)).map(({ key }) => key)).toEqual(["u", "v"]);
      expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 3, requires: [proof], settles: [proof] })])).toEqual([{ outcome: "fenced" }]);
    });

    it("takes deltas under the proof of the lease only", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const token = randomBytes(16);
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "t", lease: { owner: "w", token, ttlMs: 60_000 } })] }));
      const proof = { streamId, key: "t", epoch: 1, token };
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 1, deltas: true, requires: [proof] }));
      const fenced = anAppend({ namespace, streamId, expectedSeq: 2, deltas: true, requires: [{ ...proof, epoch: 2 }] });
      expect(await store.append([fenced])).toEqual([{ outcome: "fenced" }]);
      expect((await store.tasksOf(namespace, streamId)).map(({ key }) => key)).toEqual(["t"]);
    });

    it("removes tasks whoever holds them, and marks others as cancel requested", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const lease = { owner: "w", token: randomBytes(16), ttlMs: 60_000 };
      const addTasks = [aTask({ key: "a", lease }), aTask({ key: "b", lease }), aTask({ key: "c" }), aTask({ key: "d" })];
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks }));
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 1, removeTasks: ["a", "c", "gone"], cancelTasks: ["b", "gone too"] }));
      expect((await store.tasksOf(namespace, streamId)).map(({ key, cancelRequested, owner }) => [key, cancelRequested, owner])).toEqual([
        ["b", true, "w"],
        ["d", false, undefined],
      ]);
    });

    it("delivers a command of another stream: its task leaves with the target's append, once", async () => {
      const { store, other } = suite;
      const [namespace, source, target] = [newNamespace(), newStreamId(), newStreamId()];
      const token = randomBytes(16);
      const command = aTask({ key: "00000001", kind: "command", route: "command", lease: { owner: "replica", token, ttlMs: 60_000 } });
      await mustAppend(store, anAppend({ namespace, streamId: source, expectedSeq: 0, addTasks: [command] }));
      const proof = { streamId: source, key: "00000001", epoch: 1, token };

      const stale = anAppend({ namespace, streamId: target, expectedSeq: 0, requires: [{ ...proof, epoch: 9 }], settles: [proof] });
      expect(await store.append([stale])).toEqual([{ outcome: "fenced" }]);
      const delivery = anAppend({
        namespace,
        streamId: target,
        kind: "session",
        expectedSeq: 0,
        requires: [proof],
        settles: [proof],
        commands: [aCommand(1, "derived")],
      });
      const outcomes = (await Promise.all([store.append([delivery]), other.append([delivery])])).map(([outcome]) => outcome?.outcome);
      expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(1);
      expect(await store.tasksOf(namespace, source)).toEqual([]);
      expect(await store.append([delivery])).toEqual([{ outcome: "seen" }]);
      expect((await store.load(namespace, source, 1))?.seq).toBe(1);
    });

    it("answers busy, not fenced, where a task's row is locked, and does not wait for it", async () => {
      const { store, pool } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const lease = { owner: "w", token: randomBytes(16), ttlMs: 60_000 };
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "t", lease })] }));
      const proof = { streamId, key: "t", epoch: 1, token: lease.token };
      const holder = await pool.connect();
      try {
        await holder.query("begin");
        await holder.query("update forge.task set lease_until = now() where ns = $1 and stream_id = $2", [namespace, streamId]);
        for (const change of [{ requires: [proof], settles: [proof] }, { removeTasks: ["t"] }, { cancelTasks: ["t"] }]) {
          expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 1, ...change })])).toEqual([{ outcome: "busy" }]);
        }
      } finally {
        await holder.query("rollback");
        holder.release();
      }
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 1, requires: [proof], settles: [proof] }));
    });

    it("never lets a settlement and a new epoch of the same task both happen", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      for (let round = 0; round < 25; round++) {
        const streamId = newStreamId();
        const lease = { owner: `w-${streamId}`, token: randomBytes(16), ttlMs: 60_000 };
        await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "t", route: streamId, lease })] }));
        const proof = { streamId, key: "t", epoch: 1, token: lease.token };
        const settle = anAppend({ namespace, streamId, expectedSeq: 1, requires: [proof], settles: [proof] });
        const bump = async () => {
          await other.releaseOwners([lease.owner]);
          return await other.leaseTasks({ namespace, routes: [streamId], owner: "next", ttlMs: 60_000, limit: 1 });
        };
        const [[outcome], first] = await Promise.all([store.append([settle]), bump()]);
        if (outcome?.outcome === "ok") {
          expect(first).toEqual([]);
        } else {
          expect(["fenced", "busy"]).toContain(outcome?.outcome);
          // Each passes over a row that the other holds just then, so the race may end with neither.
          const [task] = first.length > 0 ? first : await bump();
          expect(await store.append([settle])).toEqual([{ outcome: "fenced" }]);
          await mustAppend(store, { ...settle, requires: [proofOf(task)] });
        }
        expect(await store.tasksOf(namespace, streamId)).toEqual([]);
      }
    });
  });
}
