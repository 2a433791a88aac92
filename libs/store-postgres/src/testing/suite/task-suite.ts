import { randomBytes } from "node:crypto";
import type { NewTask, StoredTask } from "@forge/engine/ports";
import { describe, expect, it } from "vitest";
import { anAppend, aTask, newNamespace, newStreamId } from "../builders.ts";
import { mustAppend, type Suite } from "./suite.ts";
import { proofOf } from "./task-append-suite.ts";

const keysOf = (tasks: readonly StoredTask[]): string[] => tasks.map(({ key }) => key);

export function describeTasks(suite: Suite): void {
  /** A new stream that has these tasks. */
  async function streamWith(namespace: string, ...addTasks: NewTask[]): Promise<string> {
    const streamId = newStreamId();
    await mustAppend(suite.store, anAppend({ namespace, streamId, expectedSeq: 0, addTasks }));
    return streamId;
  }
  /** Marks a task of a stream at seq 1 as started under its lease. */
  async function start(namespace: string, task: StoredTask | undefined): Promise<void> {
    const proof = proofOf(task);
    await mustAppend(suite.store, anAppend({ namespace, streamId: proof.streamId, expectedSeq: 1, requires: [proof], starts: [proof.key] }));
  }
  /** Lets the time of all leases of a namespace pass. */
  async function expire(namespace: string): Promise<void> {
    await suite.pool.query("update forge.task set lease_until = now() - interval '1 second' where ns = $1 and owner is not null", [namespace]);
  }

  describe("leases of work", () => {
    it("leases due, unowned work of the asked routes and namespace, oldest due first, at most limit", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const now = Date.now();
      await streamWith(
        namespace,
        aTask({ key: "younger", dueAtMs: now - 1_000 }),
        aTask({ key: "older", dueAtMs: now - 2_000 }),
        aTask({ key: "future", dueAtMs: now + 3_600_000 }),
        aTask({ key: "other route", route: "default tool:shell" }),
        aTask({ key: "held", lease: { owner: "w", token: randomBytes(16), ttlMs: 60_000 } }),
        aTask({ key: "timer", kind: "timer", route: "default tool:echo" }),
      );
      const request = { namespace, routes: ["default tool:echo", "default none"], owner: "worker-1", ttlMs: 30_000, limit: 1 };
      expect(await store.leaseTasks({ ...request, namespace: newNamespace() })).toEqual([]);
      expect(await store.leaseTasks({ ...request, routes: [] })).toEqual([]);
      const [task, ...more] = await store.leaseTasks(request);
      expect(more).toEqual([]);
      expect(task).toMatchObject({ key: "older", epoch: 1, owner: "worker-1", started: false });
      expect(task?.token).toHaveLength(16);
      expect(Math.abs((task?.leaseUntilMs ?? 0) - Date.now() - 30_000)).toBeLessThan(10_000);
      expect(keysOf(await store.leaseTasks({ ...request, limit: 10 }))).toEqual(["younger"]);
      expect(await store.leaseTasks({ ...request, limit: 10 })).toEqual([]);
      expect(keysOf(await store.leaseTasks({ ...request, routes: ["default tool:shell"], limit: 10 }))).toEqual(["other route"]);
    });

    it("leaves the tasks of some streams to others, and takes back what was given in vain", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      const [mine, theirs] = [await streamWith(namespace, aTask({ key: "mine" })), await streamWith(namespace, aTask({ key: "theirs" }))];
      const request = { namespace, routes: ["default tool:echo"], owner: "w", ttlMs: 60_000, limit: 10 };
      const leased = await store.leaseTasks({ ...request, except: [theirs] });
      expect(keysOf(leased)).toEqual(["mine"]);
      await store.unlease(leased);
      await store.unlease(leased);
      expect(keysOf(await other.leaseTasks({ ...request, except: [mine] }))).toEqual(["theirs"]);
      const [again] = await other.leaseTasks(request);
      expect(again).toMatchObject({ key: "mine", epoch: 2 });
      // What was given back once is another's now.
      await store.unlease(leased);
      expect(await store.tasksOf(namespace, mine)).toMatchObject([{ epoch: 2, owner: "w" }]);
    });

    it("gives each task to one of many who ask at once", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      await streamWith(namespace, ...Array.from({ length: 60 }, (_, index) => aTask({ key: `t${index}`, route: `r${index % 3}` })));
      const request = { namespace, routes: ["r0", "r1", "r2"], ttlMs: 60_000, limit: 7 };
      const leased: StoredTask[] = [];
      for (let round = 0; leased.length < 60 && round < 60; round++) {
        const taken = await Promise.all([store, other, store, other].map((from, index) => from.leaseTasks({ ...request, owner: `w${index}` })));
        expect(Math.max(...taken.map(({ length }) => length))).toBeLessThanOrEqual(7);
        leased.push(...taken.flat());
      }
      expect(new Set(keysOf(leased)).size).toBe(60);
      expect(leased).toHaveLength(60);
      expect(new Set(leased.map(({ token }) => Buffer.from(token ?? []).toString("hex"))).size).toBe(60);
    });

    it("does not wait for a task whose row is locked", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      const streamId = await streamWith(namespace, aTask({ key: "locked" }), aTask({ key: "free" }));
      const holder = await pool.connect();
      try {
        await holder.query("begin");
        await holder.query("select from forge.task where ns = $1 and stream_id = $2 and task_key = 'locked' for update", [namespace, streamId]);
        const request = { namespace, routes: ["default tool:echo"], owner: "w", ttlMs: 60_000, limit: 10 };
        expect(keysOf(await store.leaseTasks(request))).toEqual(["free"]);
      } finally {
        await holder.query("rollback");
        holder.release();
      }
    });

    it("leases what is asked to stop to whoever will settle it, and to nobody else", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const streamId = await streamWith(namespace, aTask({ key: "stop" }), aTask({ key: "go on" }));
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 1, cancelTasks: ["stop"] }));
      const request = { owner: "control-plane", ttlMs: 60_000, limit: 10 };
      expect(keysOf(await store.leaseTasks({ ...request, namespace, routes: ["default tool:echo"], owner: "w" }))).toEqual(["go on"]);
      expect(await store.leaseCancelled({ ...request, streamId: newStreamId() })).toEqual([]);
      const [task, ...more] = await store.leaseCancelled({ ...request, streamId });
      expect(more).toEqual([]);
      expect(task).toMatchObject({ key: "stop", owner: "control-plane", epoch: 1, cancelRequested: true });
      expect(await store.leaseCancelled({ ...request, streamId })).toEqual([]);
      const proof = proofOf(task);
      await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 2, requires: [proof], settles: [proof] }));
    });
  });

  describe("the control plane's own tasks", () => {
    it("leases due timers and tells when the next one is due", async () => {
      const { store } = suite;
      const namespace = newNamespace();
      const next = Date.now() + 600_000;
      await streamWith(
        namespace,
        aTask({ key: "due", kind: "timer", route: "timer", dueAtMs: Date.now() - 5 }),
        aTask({ key: "next", kind: "timer", route: "timer", dueAtMs: next }),
        aTask({ key: "last", kind: "timer", route: "timer", dueAtMs: next + 1_000 }),
      );
      const request = { kind: "timer", owner: "replica", ttlMs: 60_000, limit: 100 } as const;
      const first = await store.leaseInternal(request);
      expect(keysOf(first.tasks.filter((task) => task.namespace === namespace))).toEqual(["due"]);
      expect(first.nextDueInMs).toBeLessThanOrEqual(600_000);
      expect(first.nextDueInMs).toBeGreaterThan(0);
      const again = await store.leaseInternal(request);
      expect(again.tasks.filter((task) => task.namespace === namespace)).toEqual([]);
    });

    it("hands a stream's commands out strictly in the order of their keys, one after the other's delivery", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      const command = (key: string) => aTask({ key, kind: "command", route: "command" });
      const [a, b] = [await streamWith(namespace, command("2"), command("1"), command("3")), await streamWith(namespace, command("9"))];
      const target = newStreamId();
      let seq = 0;
      const take = async (from = store) => {
        const { tasks } = await from.leaseInternal({ kind: "command", owner: "replica", ttlMs: 60_000, limit: 100 });
        return tasks.filter((task) => task.namespace === namespace);
      };
      const deliver = async (task: StoredTask | undefined) => {
        const proof = proofOf(task);
        await mustAppend(store, anAppend({ namespace, streamId: target, expectedSeq: seq++, requires: [proof], settles: [proof] }));
      };
      const first = await take();
      expect(first.map(({ streamId, key }) => `${streamId} ${key}`).toSorted()).toEqual([`${a} 1`, `${b} 9`].toSorted());
      // The first is leased, not yet delivered: the second stays.
      expect(await take(other)).toEqual([]);
      await deliver(first.find(({ key }) => key === "1"));
      const second = await take(other);
      expect(keysOf(second)).toEqual(["2"]);
      // A lease that is lost comes again before the third.
      await expire(namespace);
      const { routes } = await store.expireLeases(1_000);
      expect(routes).toContainEqual({ namespace, route: "command" });
      const again = await take();
      expect(keysOf(again).toSorted()).toEqual(["2", "9"]);
      await deliver(again.find(({ key }) => key === "2"));
      expect(keysOf(await take())).toEqual(["3"]);
    });
  });

  describe("leases that end", () => {
    it("gives expired leases back where the task had not started, and reports those that had with a new lease, until their stream decides", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      const lease = { owner: "w", token: randomBytes(16), ttlMs: 60_000 };
      await streamWith(namespace, aTask({ key: "unstarted", lease }));
      const streamId = await streamWith(namespace, aTask({ key: "started", lease }));
      const [before] = await store.tasksOf(namespace, streamId);
      await start(namespace, before);
      const own = (released: Awaited<ReturnType<typeof store.expireLeases>>) => ({
        started: released.started.filter((task) => task.namespace === namespace),
        routes: released.routes.filter((route) => route.namespace === namespace),
      });
      expect(own(await store.expireLeases(1_000))).toEqual({ started: [], routes: [] });

      await expire(namespace);
      const first = own(await store.expireLeases(1_000));
      expect(first.routes).toEqual([{ namespace, route: "default tool:echo" }]);
      expect(first.started).toHaveLength(1);
      expect(first.started[0]).toMatchObject({ key: "started", streamId, epoch: 2, owner: "reaper", started: true });
      // The old holder is fenced, and nobody else gets the task.
      const old = { streamId, key: "started", epoch: 1, token: lease.token };
      expect(await store.append([anAppend({ namespace, streamId, expectedSeq: 2, requires: [old], settles: [old] })])).toEqual([{ outcome: "fenced" }]);
      const request = { namespace, routes: ["default tool:echo"], owner: "w2", ttlMs: 60_000, limit: 10 };
      expect((await store.leaseTasks(request)).map(({ key, epoch }) => [key, epoch])).toEqual([["unstarted", 2]]);
      expect(own(await other.expireLeases(1_000)).started).toEqual([]);

      // Whoever got it died before the decision: it is reported again.
      await expire(namespace);
      const second = own(await other.expireLeases(1_000)).started.find(({ key }) => key === "started");
      expect(second).toMatchObject({ epoch: 3, owner: "reaper" });
      const proof = proofOf(second);
      await mustAppend(other, anAppend({ namespace, streamId, expectedSeq: 2, requires: [proof], settles: [proof] }));
      expect(await store.tasksOf(namespace, streamId)).toEqual([]);
    });

    it("expires at most limit leases at a time", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      const lease = { owner: "w", token: randomBytes(16), ttlMs: 60_000 };
      await streamWith(namespace, ...["a", "b", "c"].map((key) => aTask({ key, lease })));
      await store.expireLeases(1_000);
      await expire(namespace);
      await store.expireLeases(2);
      const { rows } = await pool.query("select from forge.task where ns = $1 and owner is not null", [namespace]);
      expect(rows).toHaveLength(1);
    });

    it("releases all leases of owners at once, other owners' untouched, also where an append holds a row at the moment", async () => {
      const { store, pool } = suite;
      const namespace = newNamespace();
      const [gone, stays] = [`gone-${namespace}`, `stays-${namespace}`];
      const lease = { owner: gone, token: randomBytes(16), ttlMs: 60_000 };
      const streamId = await streamWith(
        namespace,
        aTask({ key: "a", lease }),
        aTask({ key: "b", lease }),
        aTask({ key: "c", lease: { ...lease, owner: stays } }),
      );
      await start(namespace, (await store.tasksOf(namespace, streamId))[1]);

      const holder = await pool.connect();
      await holder.query("begin");
      await holder.query("select from forge.task where ns = $1 and task_key = 'a' for update", [namespace]);
      const releasing = store.releaseOwners([gone, "nobody"]);
      // It has taken the free row by then, and is waiting for the other.
      await expect.poll(async () => (await store.tasksOf(namespace, streamId))[1]?.owner).toBe("reaper");
      await holder.query("commit");
      holder.release();
      const { started, routes } = await releasing;

      expect(keysOf(started)).toEqual(["b"]);
      expect(routes).toEqual([{ namespace, route: "default tool:echo" }]);
      expect((await store.tasksOf(namespace, streamId)).map(({ owner }) => owner)).toEqual([undefined, "reaper", stays]);
      expect(await store.releaseOwners([])).toEqual({ started: [], routes: [] });
    });
  });

  describe("routes in which work waits", () => {
    it("are those of due work that nobody holds, each once however much waits, of every namespace, and no more than asked for", async () => {
      const { store, pool } = suite;
      await pool.query("delete from forge.task");
      expect(await store.waitingRoutes(10)).toEqual([]);
      const [one, other] = [newNamespace(), newNamespace()].toSorted() as [string, string];
      const lease = { owner: "w", token: randomBytes(16), ttlMs: 60_000 };
      const [waits, taken, later, stops] = ["a", "b", "c", "d"].map((name) => `default tool:${name}`) as [string, string, string, string];
      const crowd = Array.from({ length: 50 }, (_, index) => aTask({ key: `waits ${index}`, route: waits }));
      const streamId = await streamWith(
        one,
        ...crowd,
        aTask({ key: "taken", route: taken, lease }),
        aTask({ key: "later", route: later, dueAtMs: Date.now() + 60_000 }),
        aTask({ key: "stops", route: stops }),
        aTask({ key: "timer", kind: "timer", route: "timer" }),
      );
      await mustAppend(store, anAppend({ namespace: one, streamId, expectedSeq: 1, cancelTasks: ["stops"] }));
      await streamWith(other, aTask({ key: "first", route: later }), aTask({ key: "second", route: waits }));
      const expected = [
        { namespace: one, route: waits },
        { namespace: other, route: waits },
        { namespace: other, route: later },
      ];
      expect(await store.waitingRoutes(10)).toEqual(expected);
      expect(await store.waitingRoutes(2)).toEqual(expected.slice(0, 2));
    });
  });

  describe("work left", () => {
    it("is work and commands of any namespace, leased or due later, not timers", async () => {
      const { store, pool } = suite;
      await pool.query("delete from forge.task");
      const namespace = newNamespace();
      await streamWith(namespace, aTask({ key: "timer", kind: "timer", route: "timer" }));
      expect(await store.hasWork()).toBe(false);
      for (const kind of ["work", "command"] as const) {
        const streamId = await streamWith(
          namespace,
          aTask({ key: "t", kind, dueAtMs: Date.now() + 60_000, lease: { owner: "w", token: randomBytes(16), ttlMs: 60_000 } }),
        );
        expect(await store.hasWork()).toBe(true);
        await mustAppend(store, anAppend({ namespace, streamId, expectedSeq: 1, removeTasks: ["t"] }));
        expect(await store.hasWork()).toBe(false);
      }
    });
  });

  describe("repair", () => {
    it("makes tasks equal to what the state wants only while the head is where it was, and twice has no further effect", async () => {
      const { store, other } = suite;
      const namespace = newNamespace();
      const streamId = await streamWith(namespace, aTask({ key: "extra" }), aTask({ key: "unwanted" }));
      const lease = { owner: "w", token: randomBytes(16), ttlMs: 60_000 };
      const change = { add: [aTask({ key: "missing" }), aTask({ key: "born", lease })], remove: ["extra"], cancel: ["unwanted"] };
      expect(await store.repairTasks(namespace, streamId, 0, change)).toBe(false);
      expect(await store.repairTasks(namespace, streamId, 2, change)).toBe(false);
      expect(await Promise.all([store, other].map((from) => from.repairTasks(namespace, streamId, 1, change)))).toEqual([true, true]);
      expect((await store.tasksOf(namespace, streamId)).map(({ key, cancelRequested, owner, epoch }) => [key, cancelRequested, owner, epoch])).toEqual([
        ["born", false, "w", 1],
        ["missing", false, undefined, 0],
        ["unwanted", true, undefined, 0],
      ]);
      expect((await store.load(namespace, streamId, 1))?.seq).toBe(1);
    });
  });
}
