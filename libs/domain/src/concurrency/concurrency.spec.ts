import { create } from "@bufbuild/protobuf";
import {
  type AcquireConcurrency,
  AcquireConcurrencySchema,
  RejectCommandSchema,
  type ReleaseConcurrency,
  ReleaseConcurrencySchema,
} from "@forge/protocol/engine";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stampDraft } from "../recorder.ts";
import { testContext } from "../testing/context.ts";
import { grantedRun } from "./commands.ts";
import { concurrencyDecider } from "./concurrency-decider.ts";
import type { ConcurrencyCommand } from "./decide.ts";
import { type ConcurrencyState, initialConcurrencyState, WAITING_MAX } from "./state.ts";

const acquire = (runId: string, options: { priority?: number; limit?: number } = {}): AcquireConcurrency =>
  create(AcquireConcurrencySchema, { key: "k", runId, priority: options.priority ?? 0, limit: options.limit ?? 1 });
const release = (runId: string): ReleaseConcurrency => create(ReleaseConcurrencySchema, { runId });

/** The stream of one key, as the engine drives it. */
class Key {
  state: ConcurrencyState = initialConcurrencyState();
  seq = 0;
  /** Ids of the commands that went to runs. */
  readonly sent: string[] = [];

  execute(command: ConcurrencyCommand): string | undefined {
    const context = testContext({ seq: this.seq, ids: { next: 1 } });
    const decision = concurrencyDecider.decide(this.state, command, context);
    if ("rejection" in decision) return decision.rejection.reason;
    for (const draft of decision.events) {
      const event = stampDraft("concurrency", draft, context, ++this.seq);
      this.state = concurrencyDecider.evolve(this.state, event);
      this.sent.push(...concurrencyDecider.commands(this.state, event).map(({ commandId }) => commandId));
    }
    return undefined;
  }

  get granted(): string[] {
    return this.sent.map(grantedRun);
  }
}

describe("a concurrency key", () => {
  it("is given to as many runs as its limit says, and to the next when one lets it go", () => {
    const key = new Key();
    for (const run of ["a", "b", "c"]) key.execute(acquire(run, { limit: 2 }));
    expect(key.granted).toEqual(["a", "b"]);
    key.execute(release("a"));
    expect(key.granted).toEqual(["a", "b", "c"]);
    key.execute(release("b"));
    key.execute(release("c"));
    expect(key.state).toMatchObject({ holders: [], waiting: [] });
  });

  it("goes to the highest priority first, and among equals to who waited longest", () => {
    const key = new Key();
    key.execute(acquire("first"));
    for (const [run, priority] of [
      ["low", 0],
      ["high", 9],
      ["mid", 5],
      ["high2", 9],
      ["low2", 0],
    ] as const)
      key.execute(acquire(run, { priority }));
    for (const run of ["first", "high", "high2", "mid", "low"]) key.execute(release(run));
    expect(key.granted).toEqual(["first", "high", "high2", "mid", "low", "low2"]);
  });

  it("follows the newest limit: a larger one at once, a smaller one as places are left", () => {
    const key = new Key();
    for (const run of ["a", "b"]) key.execute(acquire(run));
    key.execute(acquire("c", { limit: 3 }));
    expect(key.granted).toEqual(["a", "b", "c"]);
    key.execute(acquire("d", { limit: 1 }));
    key.execute(release("a"));
    key.execute(release("b"));
    expect(key.granted).toHaveLength(3);
    key.execute(release("c"));
    expect(key.granted.at(-1)).toBe("d");
  });

  it("is not kept by a run that gave up waiting, nor by one that refused it", () => {
    const key = new Key();
    for (const run of ["a", "b", "c", "d"]) key.execute(acquire(run));
    key.execute(release("b"));
    key.execute(release("a"));
    expect(key.granted).toEqual(["a", "c"]);
    key.execute(create(RejectCommandSchema, { commandId: key.sent.at(-1) ?? "" }));
    expect(key.granted).toEqual(["a", "c", "d"]);
    // Its own release comes afterwards, or twice.
    expect(key.execute(release("c"))).toBe("CONCURRENCY_NOT_HELD");
  });

  it("has a bounded queue", () => {
    const key = new Key();
    key.state = { ...key.state, holders: ["a"], waiting: Array.from({ length: WAITING_MAX }, (_, index) => ({ runId: `r${index}`, priority: 0 })) };
    expect(key.execute(acquire("b"))).toBe("CONCURRENCY_QUEUE_FULL");
  });

  it("is never held by more than its limit, nor left free while somebody waits", () => {
    const runs = fc.constantFrom("a", "b", "c", "d", "e", "f");
    const command = fc.oneof(
      fc.record({ run: runs, priority: fc.nat(9) }).map(({ run, priority }) => acquire(run, { priority, limit: 2 })),
      runs.map(release),
      runs.map((run) => create(RejectCommandSchema, { commandId: `grant:${run}:1` })),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const key = new Key();
        for (const each of commands) {
          // A run asks again only once it has let go.
          const known = new Set([...key.state.holders, ...key.state.waiting.map(({ runId }) => runId)]);
          if (each.$typeName === "forge.engine.v1.AcquireConcurrency" && known.has(each.runId)) continue;
          key.execute(each);
          expect(key.state.holders.length).toBeLessThanOrEqual(2);
          if (key.state.waiting.length > 0) expect(key.state.holders).toHaveLength(2);
        }
      }),
    );
  });
});
