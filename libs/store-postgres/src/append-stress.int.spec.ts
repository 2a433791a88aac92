import { randomBytes, randomInt, randomUUID } from "node:crypto";
import type { AppendOutcome, LeaseProof, Store, StreamAppend } from "@forge/engine/ports";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { createPostgresStore } from "./create-postgres-store.ts";
import { aCommand, aListing, anAppend, aTask, newNamespace, newStreamId } from "./testing/builders.ts";
import { testDatabases } from "./testing/database.ts";
import { type Suite, useSuite } from "./testing/suite/suite.ts";

const STREAMS = 24;
const COMMANDS_PER_WRITER = 150;
const BATCH_MAX = 12;
/** Far more rounds than any run has needed; a livelock ends here. */
const ROUNDS_MAX = 20_000;

/** What a writer wants: one command on one stream, which it sends until it has its record. */
interface Wish {
  readonly streamId: string;
  readonly commandId: string;
}

/** One replica's loop: load, decide on that head, append in batches, ask the records when nobody knows. Each accepted command swaps the stream's task for the next. */
class Writer {
  readonly losses = { count: 0 };
  readonly #store: Store;
  readonly #namespace: string;
  readonly #pending: Wish[];

  constructor(store: Store, namespace: string, wishes: readonly Wish[]) {
    this.#store = store;
    this.#namespace = namespace;
    this.#pending = [...wishes];
  }

  async run(): Promise<void> {
    for (let round = 0; this.#pending.length > 0; round++) {
      if (round > ROUNDS_MAX) throw new Error(`${this.#pending.length} commands still wait`);
      const batch = this.#take();
      try {
        const appends = await Promise.all(batch.map((wish) => this.#decide(wish)));
        const outcomes = await this.#store.append(appends);
        for (const [index, wish] of batch.entries()) if (!this.#done(outcomes[index])) this.#pending.push(wish);
      } catch (error) {
        expect(error).toMatchObject({ code: ErrorCode.STORAGE_ERROR });
        this.losses.count++;
        // The outcome is unknown: sent again, what had happened is seen.
        this.#pending.push(...batch);
      }
    }
  }

  /** At most one wish for each stream. */
  #take(): Wish[] {
    const batch: Wish[] = [];
    for (let index = 0; index < this.#pending.length && batch.length < BATCH_MAX; ) {
      const wish = this.#pending[index] as Wish;
      if (batch.some(({ streamId }) => streamId === wish.streamId)) index++;
      else batch.push(...this.#pending.splice(index, 1));
    }
    return batch;
  }

  #done(outcome: AppendOutcome | undefined): boolean {
    expect(["ok", "seen", "conflict", "busy", "fenced"]).toContain(outcome?.outcome);
    return outcome?.outcome === "ok" || outcome?.outcome === "seen";
  }

  async #decide({ streamId, commandId }: Wish): Promise<StreamAppend> {
    // A stale create now and then, for streams that exist already.
    const loaded = randomInt(12) === 0 ? undefined : await this.#store.load(this.#namespace, streamId, 1);
    const seq = loaded?.seq ?? 0;
    const [task] = loaded === undefined ? [] : await this.#store.tasksOf(this.#namespace, streamId);
    const proof: LeaseProof[] = task?.token === undefined ? [] : [{ streamId, key: task.key, epoch: task.epoch, token: task.token }];
    return anAppend({
      namespace: this.#namespace,
      streamId,
      expectedSeq: seq,
      commands: [aCommand(seq + 1, commandId)],
      requires: proof,
      settles: proof,
      addTasks: [aTask({ key: `task ${seq + 1}`, lease: { owner: randomUUID(), token: randomBytes(16), ttlMs: 60_000 } })],
      listing: randomInt(4) === 0 ? aListing({ title: `at ${seq + 1}` }) : undefined,
    });
  }
}

/** Every stream is contiguous from 1 to its head, every command has one record and one event, and one task is left, the last one. */
async function expectSound(suite: Suite, namespace: string, wishes: readonly Wish[]): Promise<void> {
  const { store } = suite;
  const wanted = new Map<string, Set<string>>();
  for (const { streamId, commandId } of wishes) wanted.set(streamId, (wanted.get(streamId) ?? new Set()).add(commandId));
  for (const [streamId, commandIds] of wanted) {
    const loaded = await store.load(namespace, streamId, 1);
    expect(loaded?.seq).toBe(commandIds.size);
    expect(loaded?.events.map(({ seq }) => seq)).toEqual(Array.from({ length: commandIds.size }, (_, index) => index + 1));
    const records = await store.findCommands(namespace, streamId, [...commandIds]);
    expect(new Set(records.map(({ seq }) => seq)).size).toBe(commandIds.size);
    expect((await store.tasksOf(namespace, streamId)).map(({ key }) => key)).toEqual([`task ${commandIds.size}`]);
  }
}

async function deadlocks({ pool }: Suite): Promise<number> {
  const { rows } = await pool.query<{ deadlocks: number }>("select deadlocks from pg_stat_database where datname = current_database()");
  return Number(rows[0]?.deadlocks);
}

for (const { name, open } of testDatabases()) {
  describe(`append under stress on the ${name}`, () => {
    const suite = useSuite(open);

    /** Three writers over the same streams; a third of the commands are sent by two of them. */
    function writers(stores: readonly Store[], namespace: string): { writers: Writer[]; wishes: Wish[] } {
      const streams = Array.from({ length: STREAMS }, newStreamId);
      const wishes = stores.map(() =>
        Array.from({ length: COMMANDS_PER_WRITER }, (): Wish => ({ streamId: streams[randomInt(STREAMS)] as string, commandId: randomUUID() })),
      );
      const shared = wishes.map((own) => own.slice(0, COMMANDS_PER_WRITER / 3));
      return {
        writers: stores.map((store, index) => new Writer(store, namespace, [...(wishes[index] ?? []), ...(shared[(index + 1) % stores.length] ?? [])])),
        wishes: wishes.flat(),
      };
    }

    it("three writers on the same streams: every command once, no gap, no deadlock", async () => {
      const namespace = newNamespace();
      const third = await createPostgresStore(suite.connection);
      const { writers: all, wishes } = writers([suite.store, suite.other, third], namespace);
      await Promise.all(all.map((writer) => writer.run()));
      await third.close();
      expect(all.map(({ losses }) => losses.count)).toEqual([0, 0, 0]);
      await expectSound(suite, namespace, wishes);
      expect(await deadlocks(suite)).toBe(0);
    });

    it("backends killed at random moments: nothing lost, twice or missing", async () => {
      const namespace = newNamespace();
      const { writers: all, wishes } = writers([suite.store, suite.other], namespace);
      const abort = new AbortController();
      let killed = 0;
      const killing = (async () => {
        while (!abort.signal.aborted) {
          const { rowCount } = await suite.pool.query(`
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = 'forge' and pid <> pg_backend_pid() and query like '%forge.%' order by random() limit 1`);
          killed += rowCount ?? 0;
        }
      })();
      // Kills go on until enough have hit a statement that was under way.
      await Promise.all(all.map((writer) => writer.run())).finally(() => abort.abort());
      await killing;
      expect(killed).toBeGreaterThan(10);
      expect(all.reduce((sum, { losses }) => sum + losses.count, 0)).toBeGreaterThan(3);
      // The last kill's message may still be on its way to an idle connection: until all of the pool's work at once.
      const answers = async () => await Promise.allSettled(Array.from({ length: 6 }, () => suite.store.incarnation()));
      await expect.poll(async () => (await answers()).every(({ status }) => status === "fulfilled"), { timeout: 20_000 }).toBe(true);
      await expectSound(suite, namespace, wishes);
    });

    it("goes on with all other streams while one head is held", async () => {
      const namespace = newNamespace();
      const { writers: all, wishes } = writers([suite.store, suite.other], namespace);
      const held = newStreamId();
      expect(await suite.store.append([anAppend({ namespace, streamId: held, expectedSeq: 0 })])).toEqual([{ outcome: "ok" }]);
      const holder = await suite.pool.connect();
      await holder.query("begin");
      await holder.query("select from forge.stream where ns = $1 and id = $2 for update", [namespace, held]);
      let ended = false;
      let busy = 0;
      // In the same pools as the others, all the time.
      const knocking = (async () => {
        while (!ended) {
          const outcomes = await suite.store.append([anAppend({ namespace, streamId: held, expectedSeq: 1 })]);
          expect(outcomes).toEqual([{ outcome: "busy" }]);
          busy++;
        }
      })();
      // All of it happens before the head is let go: nothing has waited for it.
      await Promise.all(all.map((writer) => writer.run()));
      ended = true;
      await knocking;
      await holder.query("rollback");
      holder.release();
      expect(busy).toBeGreaterThan(10);
      await expectSound(suite, namespace, wishes);
      expect(await suite.store.append([anAppend({ namespace, streamId: held, expectedSeq: 1 })])).toEqual([{ outcome: "ok" }]);
    });

    it("leases, heartbeats, expiries and settlements of the same tasks at once: no deadlock, no stale settlement", async () => {
      const namespace = newNamespace();
      const streams = Array.from({ length: 40 }, newStreamId);
      const route = "stress";
      await suite.store.append(
        streams.map((streamId) => anAppend({ namespace, streamId, expectedSeq: 0, addTasks: [aTask({ key: "t", route, idempotent: true })] })),
      );
      const settledBy = new Map<string, number>();
      const stores = [suite.store, suite.other];
      const worker = async (store: Store, sessionId: string): Promise<void> => {
        for (let round = 0; settledBy.size < streams.length && round < ROUNDS_MAX; round++) {
          const tasks = await store.leaseTasks({ namespace, routes: [route], owner: sessionId, ttlMs: 10, limit: 5 });
          await Promise.all([store.heartbeat([{ sessionId, held: tasks.slice(1) }], 10), store.expireLeases(100)]);
          const proofs = tasks.map(({ streamId, key, epoch, token }) => ({ streamId, key, epoch, token: token as Uint8Array }));
          const outcomes = await store.append(
            proofs.map((proof) =>
              anAppend({ namespace, streamId: proof.streamId, expectedSeq: 1, requires: [proof], settles: [proof], commands: [aCommand(2)] }),
            ),
          );
          for (const [index, { outcome }] of outcomes.entries()) {
            const { streamId } = proofs[index] as LeaseProof;
            if (outcome === "ok") settledBy.set(streamId, (settledBy.get(streamId) ?? 0) + 1);
          }
        }
      };
      await Promise.all(Array.from({ length: 6 }, (_, index) => worker(stores[index % 2] as Store, randomUUID())));
      expect([...settledBy.values()]).toEqual(streams.map(() => 1));
      expect((await suite.store.heads(streams.map((streamId) => ({ namespace, streamId })))).map(({ seq }) => seq)).toEqual(streams.map(() => 2));
      expect(await deadlocks(suite)).toBe(0);
    });
  });
}
