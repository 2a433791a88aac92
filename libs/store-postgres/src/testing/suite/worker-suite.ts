import { randomBytes, randomUUID } from "node:crypto";
import type { HeartbeatAnswer, StoredWorker } from "@forge/engine/ports";
import { describe, expect, it } from "vitest";
import { anAppend, aTask, newNamespace, newStreamId } from "../builders.ts";
import { mustAppend, type Suite } from "./suite.ts";
import { proofOf } from "./task-append-suite.ts";

function aWorker(worker: Partial<StoredWorker> & Pick<StoredWorker, "namespace">): StoredWorker {
  return {
    sessionId: randomUUID(),
    name: "executor",
    principal: "worker:executor",
    queues: ["default", "gpu"],
    capabilities: [Buffer.from([0, 255]), Buffer.alloc(0)],
    slots: 8,
    draining: false,
    ...worker,
  };
}

/** Longer than any test. */
const TTL_MS = 120_000;

export function describeWorkers(suite: Suite): void {
  describe("workers", () => {
    it("joins, is live in its namespace, drains, and replaces its earlier session of the same name", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const [first, second, another] = [aWorker({ namespace }), aWorker({ namespace, slots: 2 }), aWorker({ namespace, name: "another" })];
      expect(await store.saveWorker(first, TTL_MS)).toEqual({ replaced: [] });
      expect(await store.saveWorker(first, TTL_MS)).toEqual({ replaced: [] });
      await store.saveWorker(another, TTL_MS);
      await store.saveWorker(aWorker({ namespace: newNamespace() }), TTL_MS);
      expect(await store.liveWorkers(namespace)).toEqual([another, first]);
      expect(await store.saveWorker(second, TTL_MS)).toEqual({ replaced: [first.sessionId] });
      expect(await store.drainWorker(second.sessionId)).toBe(true);
      expect(await store.drainWorker(first.sessionId)).toBe(false);
      expect(await store.liveWorkers(namespace)).toEqual([another, { ...second, draining: true }]);
    });

    it("does not take the name of another principal's live worker", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const first = aWorker({ namespace, principal: "worker:a" });
      await store.saveWorker(first, 60_000);
      expect(await store.saveWorker(aWorker({ namespace, name: first.name, principal: "worker:b" }), 60_000)).toBeUndefined();
      expect((await store.liveWorkers(namespace)).map((worker) => worker.sessionId)).toEqual([first.sessionId]);
    });

    it("removes workers whose time has passed, once", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      const [dead, alive] = [aWorker({ namespace, name: "dead" }), aWorker({ namespace, name: "alive" })];
      await store.saveWorker(dead, 0);
      await store.saveWorker(alive, TTL_MS);
      expect(await store.liveWorkers(namespace)).toEqual([alive]);
      const removed = (await Promise.all([store.removeDeadWorkers(), other.removeDeadWorkers()])).flat();
      expect(removed.filter((sessionId) => sessionId === dead.sessionId)).toHaveLength(1);
      expect(removed).not.toContain(alive.sessionId);
      const { answers } = await store.heartbeat(
        [dead, alive].map(({ sessionId }) => ({ sessionId, held: [] })),
        TTL_MS,
      );
      expect(answers.map(({ known }) => known)).toEqual([false, true]);
    });
  });

  describe("a lease", () => {
    it("is its holder's while epoch, token and worker are the same, whatever the time, and tells whether its stream refers to an artifact", async () => {
      const { store, pool } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const worker = aWorker({ namespace, principal: "worker:a" });
      await store.saveWorker(worker, TTL_MS);
      const sha256 = randomBytes(32).toString("hex");
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "step/a" })], artifacts: [sha256] }));
      const [task] = await store.leaseTasks({ namespace, routes: ["default tool:echo"], owner: worker.sessionId, ttlMs: TTL_MS, limit: 1 });
      const lease = { namespace, streamId, key: "step/a", epoch: 1, token: task?.token as Uint8Array, principal: "worker:a" };
      expect(await store.leasedTask(lease)).toEqual({ bytes: Buffer.from("task step/a"), refersTo: false });
      expect((await store.leasedTask(lease, sha256))?.refersTo).toBe(true);
      expect((await store.leasedTask(lease, "0".repeat(64)))?.refersTo).toBe(false);
      const wrong = { epoch: 2, token: randomBytes(16), principal: "worker:b", key: "step/b", namespace: newNamespace(), streamId: newStreamId() };
      for (const [name, value] of Object.entries(wrong)) expect([name, await store.leasedTask({ ...lease, [name]: value })]).toEqual([name, undefined]);
      expect(await store.leasedTask({ ...lease, streamId: "no-uuid" })).toBeUndefined();
      await pool.query("update forge.task set lease_until = now() - interval '1 hour' where ns = $1", [namespace]);
      expect(await store.leasedTask(lease)).toBeDefined();
      await store.releaseOwners([worker.sessionId]);
      expect(await store.leasedTask(lease)).toBeUndefined();
    });
  });

  describe("heartbeat", () => {
    it("keeps worker and named leases alive, tells cancellations and losses, gives back what is not named, and reports what had started", async () => {
      const { store, pool } = suite;
      const [namespace, streamId, startedStream] = [newNamespace(), newStreamId(), newStreamId()];
      const worker = aWorker({ namespace });
      const { sessionId } = worker;
      await store.saveWorker(worker, 1_000);
      const lease = { owner: sessionId, token: randomBytes(16), ttlMs: 1_000 };
      const addTasks = ["held", "cancelled", "unnamed"].map((key) => aTask({ key, lease }));
      await mustAppend(
        store,
        anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [...addTasks, aTask({ key: "not mine" })] }),
        anAppend({ namespace, streamId: startedStream, expectedSeq: 0, addTasks: [aTask({ key: "started", lease })] }),
      );
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 1, cancelTasks: ["cancelled"] }));
      const proof = proofOf((await store.tasksOf(namespace, startedStream))[0]);
      await mustAppend(store, anAppend({ namespace, streamId: startedStream, expectedSeq: 1, requires: [proof], starts: ["started"] }));

      const held = ["held", "cancelled", "not mine", "gone"].map((key) => ({ namespace, streamId, key, epoch: 1 }));
      const beat = { sessionId, held: [...held, { namespace, streamId: "no-uuid", key: "held", epoch: 1 }] };
      const { answers, abandoned } = await store.heartbeat([beat], TTL_MS);
      const [answer] = answers as [HeartbeatAnswer];
      expect(answer.known).toBe(true);
      expect(answer.cancelled).toEqual([{ namespace, streamId, key: "cancelled" }]);
      expect(answer.lost.toSorted((a, b) => a.key.localeCompare(b.key))).toEqual([
        { namespace, streamId, key: "gone" },
        { namespace, streamId: "no-uuid", key: "held" },
        { namespace, streamId, key: "not mine" },
      ]);
      expect(abandoned).toHaveLength(1);
      expect(abandoned[0]).toMatchObject({ key: "started", epoch: 2, owner: "reaper", started: true });

      const tasks = new Map((await store.tasksOf(namespace, streamId)).map((task) => [task.key, task]));
      expect(tasks.get("held")).toMatchObject({ owner: sessionId, epoch: 1 });
      expect(tasks.get("held")?.leaseUntilMs).toBeGreaterThan(Date.now() + TTL_MS / 2);
      expect(tasks.get("unnamed")?.owner).toBeUndefined();
      // Alive beyond the second it joined for.
      const { rows } = await pool.query("select alive_until > now() + interval '30 seconds' as alive from forge.worker where session_id = $1", [sessionId]);
      expect(rows).toEqual([{ alive: true }]);
    });

    it("does not miss a lease that is too young to have reached the worker when its heartbeat left", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const worker = aWorker({ namespace });
      await store.saveWorker(worker, TTL_MS);
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "t" })] }));
      await store.leaseTasks({ namespace, routes: ["default tool:echo"], owner: worker.sessionId, ttlMs: TTL_MS, limit: 1 });
      const silent = [{ sessionId: worker.sessionId, held: [] }];
      await store.heartbeat(silent, TTL_MS);
      expect((await store.tasksOf(namespace, streamId))[0]).toMatchObject({ owner: worker.sessionId, epoch: 1 });
      await suite.pool.query("update forge.task set lease_until = lease_until - interval '3 seconds' where ns = $1", [namespace]);
      await store.heartbeat(silent, TTL_MS);
      expect((await store.tasksOf(namespace, streamId))[0]).toMatchObject({ owner: undefined, epoch: 1 });
    });

    it("never shortens a lease, and does not extend one of another epoch or owner", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const [mine, theirs] = [aWorker({ namespace, name: "mine" }), aWorker({ namespace, name: "theirs" })];
      await store.saveWorker(mine, TTL_MS);
      const lease = { owner: mine.sessionId, token: randomBytes(16), ttlMs: TTL_MS };
      const addTasks = [aTask({ key: "mine", lease }), aTask({ key: "theirs", lease: { ...lease, owner: theirs.sessionId } })];
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks }));
      const before = await store.tasksOf(namespace, streamId);
      const named = (key: string, epoch: number) => ({ namespace, streamId, key, epoch });
      const { answers } = await store.heartbeat([{ sessionId: mine.sessionId, held: [named("mine", 1), named("theirs", 1), named("mine", 2)] }], 1_000);
      expect(answers[0]?.lost).toEqual(["theirs", "mine"].map((key) => ({ namespace, streamId, key })));
      expect(await store.tasksOf(namespace, streamId)).toEqual(before);
    });

    it("extends a lease whose row an append holds at that moment as well, once it lets go", async () => {
      const { store, pool } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const worker = aWorker({ namespace });
      await store.saveWorker(worker, TTL_MS);
      const lease = { owner: worker.sessionId, token: randomBytes(16), ttlMs: 1_000 };
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "busy", lease }), aTask({ key: "free", lease })] }));
      const holder = await pool.connect();
      await holder.query("begin");
      await holder.query("select from forge.task where ns = $1 and task_key = 'busy' for update", [namespace]);
      const held = ["busy", "free"].map((key) => ({ namespace, streamId, key, epoch: 1 }));
      const beating = store.heartbeat([{ sessionId: worker.sessionId, held }], TTL_MS);
      const isLong = async (key: string): Promise<boolean> => {
        const task = (await store.tasksOf(namespace, streamId)).find((one) => one.key === key);
        return (task?.leaseUntilMs ?? 0) > Date.now() + TTL_MS / 2;
      };
      await expect.poll(() => isLong("free")).toBe(true);
      expect(await isLong("busy")).toBe(false);
      await holder.query("commit");
      holder.release();
      expect((await beating).answers).toEqual([{ known: true, cancelled: [], lost: [] }]);
      expect(await isLong("busy")).toBe(true);
    });

    it("answers many at once, each for itself, whatever another one names", async () => {
      const { store } = suite;
      const [namespace, streamId] = [newNamespace(), newStreamId()];
      const [one, other, hostile] = ["one", "other", "hostile"].map((name) => aWorker({ namespace, name })) as [StoredWorker, StoredWorker, StoredWorker];
      const lease = (owner: string) => ({ owner, token: randomBytes(16), ttlMs: 1_000 });
      for (const worker of [one, other, hostile]) await store.saveWorker(worker, TTL_MS);
      const addTasks = [
        aTask({ key: "of one", lease: lease(one.sessionId) }),
        aTask({ key: "of the other", lease: lease(other.sessionId) }),
        aTask({ key: "unnamed", lease: lease(other.sessionId) }),
      ];
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks }));
      const named = (key: string, epoch = 1) => ({ namespace, streamId, key, epoch });
      const beats = [
        { sessionId: one.sessionId, held: [named("of one")] },
        { sessionId: newStreamId(), held: [] },
        { sessionId: hostile.sessionId, held: [named("unnamed"), named("a\0b"), named("of one", 2 ** 32 - 1)] },
        { sessionId: other.sessionId, held: [named("of the other")] },
      ];
      const { answers, abandoned, routes } = await store.heartbeat(beats, TTL_MS);
      expect(answers.map(({ known }) => known)).toEqual([true, false, true, true]);
      expect(answers.map(({ lost }) => lost.map(({ key }) => key))).toEqual([[], [], ["unnamed", "a\0b", "of one"], []]);
      expect([abandoned, routes]).toEqual([[], [{ namespace, route: "default tool:echo" }]]);
      const owners = new Map((await store.tasksOf(namespace, streamId)).map(({ key, owner }) => [key, owner]));
      expect(owners).toEqual(
        new Map([
          ["of one", one.sessionId],
          ["of the other", other.sessionId],
          ["unnamed", undefined],
        ]),
      );
    });
  });
}
