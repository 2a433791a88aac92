import { randomBytes, randomUUID } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { StreamArchiveSchema } from "@forge/protocol/engine";
import { EventSchema } from "@forge/protocol/event";
import { beforeEach, expect, it } from "vitest";
import type { ArchivedStream, KindedListing, Store, StoredEvent } from "../ports/index.ts";
import { archiveRun } from "./archive-run.ts";
import { withArchives } from "./with-archives.ts";

const NAMESPACE = "n";
const RUN = randomUUID();
const PARENT = randomUUID();

/** One run in memory, with the store's promises. */
class OneRun {
  events: readonly StoredEvent[] = [];
  headSeq = 0;
  archive: string | undefined;
  parentStatus = "RUN_STATUS_RUNNING";
  readonly artifacts = new Map<string, Uint8Array>();
  readonly dropped: ArchivedStream[] = [];

  hold(events: readonly StoredEvent[]): void {
    this.events = events;
    this.headSeq = events.at(-1)?.seq ?? 0;
  }

  readonly store = {
    readEvents: async (_namespace: string, _streamId: string, { afterSeq, throughSeq, limit }: Parameters<Store["readEvents"]>[2]) => ({
      events: this.events.filter(({ seq }) => seq > afterSeq && seq <= (throughSeq ?? this.headSeq)).slice(0, limit),
      headSeq: this.headSeq,
      prunedThroughSeq: 0,
      archive: this.archive,
    }),
    putArtifact: async (_namespace: string, sha256: string, _mediaType: string, content: Uint8Array) => void this.artifacts.set(sha256, content),
    getArtifact: async (_namespace: string, sha256: string) => {
      const content = this.artifacts.get(sha256);
      return content === undefined ? undefined : { mediaType: "", content };
    },
    listed: async () => [{ status: this.parentStatus } as KindedListing],
    archiveStream: async (archived: ArchivedStream) => {
      this.dropped.push(archived);
      if (archived.seq !== this.headSeq || this.archive !== undefined) return false;
      this.archive = archived.archive;
      this.events = [];
      this.headSeq++;
      return true;
    },
  } as unknown as Store;
}

let run: OneRun;
beforeEach(() => {
  run = new OneRun();
});

function anEvent(seq: number, kind: string, bytes: Uint8Array = randomBytes(20)): StoredEvent {
  return { seq, kind, bytes };
}

function created(parentRunId?: string): StoredEvent {
  const parent = parentRunId === undefined ? undefined : { runId: parentRunId, stepId: "s" };
  return anEvent(1, "run.created", toBinary(EventSchema, create(EventSchema, { payload: { case: "runCreated", value: { parent } } })));
}

const whole = (store: Store) => store.readEvents(NAMESPACE, RUN, { afterSeq: 0, limit: 10_000, deltas: false });

it("a small run becomes one artifact, which reads as its events did, whatever the range", async () => {
  // The third seq was a delta.
  const events = [created(), anEvent(2, "step.started"), anEvent(4, "of.a.newer.version"), anEvent(5, "run.completed")];
  run.hold(events);
  expect(await archiveRun(run.store, NAMESPACE, RUN)).toMatchObject({ outcome: "archived", eventCount: 4 });
  expect([...run.artifacts.keys()]).toEqual([run.archive]);
  const store = withArchives(run.store);
  const read = async (range: Partial<Parameters<Store["readEvents"]>[2]>) =>
    (await store.readEvents(NAMESPACE, RUN, { afterSeq: 0, limit: 100, deltas: true, ...range })).events.map(({ seq }) => seq);
  expect(await whole(store)).toMatchObject({ headSeq: 6 });
  expect((await whole(store)).events.map(({ bytes, ...event }) => ({ ...event, bytes: Buffer.from(bytes).toString("hex") }))).toEqual(
    events.map(({ bytes, ...event }) => ({ ...event, bytes: Buffer.from(bytes).toString("hex") })),
  );
  expect(await read({ afterSeq: 2 })).toEqual([4, 5]);
  expect(await read({ afterSeq: 3, throughSeq: 4 })).toEqual([4]);
  expect(await read({ limit: 2 })).toEqual([1, 2]);
  expect(await read({ afterSeq: 5 })).toEqual([]);
});

it("a large run becomes several artifacts, none too large, all of which its head refers to", async () => {
  const count = 2_500;
  const events = [created(), ...Array.from({ length: count }, (_, index) => anEvent(index + 2, "step.completed", randomBytes(8_000)))];
  events.push(anEvent(count + 2, "run.failed"));
  run.hold(events);
  const outcome = await archiveRun(run.store, NAMESPACE, RUN);
  expect(outcome).toMatchObject({ outcome: "archived", eventCount: count + 2 });
  const { parts } = fromBinary(StreamArchiveSchema, run.artifacts.get(run.archive as string) as Uint8Array);
  expect(parts.length).toBeGreaterThan(3);
  expect([...run.artifacts.values()].every(({ length }) => length < 6 * 1024 * 1024)).toBe(true);
  expect([...(run.dropped[0]?.artifacts ?? [])].toSorted()).toEqual([...run.artifacts.keys()].toSorted());

  const store = withArchives(run.store);
  const read: StoredEvent[] = [];
  for (let afterSeq = 0; ; afterSeq = read.at(-1)?.seq ?? 0) {
    const page = await store.readEvents(NAMESPACE, RUN, { afterSeq, limit: 500, deltas: true });
    read.push(...page.events);
    if (page.events.length < 500) break;
  }
  expect(read.length).toBe(events.length);
  expect(read.every(({ seq, bytes }, index) => seq === events[index]?.seq && Buffer.compare(bytes, events[index]?.bytes ?? bytes) === 0)).toBe(true);
});

it("killed before the rows were dropped, the same artifacts are made again; done by two, the second says that it was done", async () => {
  const events = [created(), anEvent(2, "run.completed")];
  run.hold(events);
  const dies = { ...run.store, archiveStream: () => Promise.reject(new Error("killed")) };
  await expect(archiveRun(dies, NAMESPACE, RUN)).rejects.toThrow("killed");
  const left = [...run.artifacts.keys()];
  expect(left).toHaveLength(1);
  const late = {
    ...run.store,
    archiveStream: async (archived: ArchivedStream) => (await archiveRun(run.store, NAMESPACE, RUN), run.store.archiveStream(archived)),
  };
  expect(await archiveRun(late, NAMESPACE, RUN)).toEqual({ outcome: "already" });
  expect([...run.artifacts.keys()]).toEqual(left);
  expect(await archiveRun(run.store, NAMESPACE, RUN)).toEqual({ outcome: "already" });
});

it("leaves alone what has not ended, was resumed, moves meanwhile, is waited for, or is no run", async () => {
  const outcomeOf = async (...events: StoredEvent[]) => {
    run.hold(events);
    return await archiveRun(run.store, NAMESPACE, RUN);
  };
  expect(await outcomeOf()).toEqual({ outcome: "missing" });
  expect(await outcomeOf(anEvent(1, "session.created"))).toEqual({ outcome: "missing" });
  expect(await outcomeOf(created(), anEvent(2, "step.started"))).toEqual({ outcome: "active" });
  expect(await outcomeOf(created(), anEvent(2, "run.failed"), anEvent(3, "run.resumed"), anEvent(4, "step.started"))).toEqual({ outcome: "active" });
  expect(await outcomeOf(created(PARENT), anEvent(2, "run.completed"))).toEqual({ outcome: "waited-for", parentRunId: PARENT });
  const resumed = { ...run.store, archiveStream: async () => (run.headSeq++, false) };
  run.parentStatus = "RUN_STATUS_FAILED";
  expect(await archiveRun(resumed, NAMESPACE, RUN)).toEqual({ outcome: "active" });
  expect(run.dropped).toEqual([]);
  expect(await outcomeOf(created(PARENT), anEvent(2, "run.completed"))).toMatchObject({ outcome: "archived" });
});

it("an archive that is gone is an error that says so, not an empty run", async () => {
  run.hold([created(), anEvent(2, "run.completed")]);
  await archiveRun(run.store, NAMESPACE, RUN);
  run.artifacts.clear();
  await expect(whole(withArchives(run.store))).rejects.toMatchObject({ reason: "ARCHIVE_MISSING" });
});
