import { create } from "@bufbuild/protobuf";
import { concurrencyDecider, runDecider, sessionDecider } from "@forge/domain";
import { ErrorCode } from "@forge/protocol/common";
import { type Event, EventSchema } from "@forge/protocol/event";
import { describe, expect, it } from "vitest";
import type { LoadedStream } from "../ports/index.ts";
import type { Aggregates } from "./aggregate.ts";
import { encodeEvent } from "./encode-event.ts";
import { foldEntry, isSnapshotDue, snapshotBytes } from "./entry.ts";

const AGGREGATES: Aggregates = { session: sessionDecider, run: runDecider, concurrency: concurrencyDecider };
const KINDS = new Map([["session.closed", 2]]);
const [NEWER, OLDER] = [
  { reads: 2, kinds: KINDS },
  { reads: 1, kinds: KINDS },
];

function loaded(events: readonly Event[], snapshot?: LoadedStream["snapshot"]): LoadedStream {
  return { kind: "session", seq: 2, snapshot, events: events.map(encodeEvent) };
}

const created = create(EventSchema, {
  seq: 1n,
  kind: "session.created",
  payload: { case: "sessionCreated", value: { agent: { model: "demo/echo" }, queue: "default" } },
});
const closed = create(EventSchema, { seq: 2n, kind: "session.closed", payload: { case: "sessionClosed", value: {} } });

it("a snapshot hides no event of a format that is not read here", () => {
  const entry = foldEntry(loaded([created, closed]), AGGREGATES, NEWER);
  const snapshot = { seq: 2, bytes: snapshotBytes(entry) };
  expect(foldEntry(loaded([], snapshot), AGGREGATES, NEWER)).toMatchObject({ format: 2, stateSeq: 2, state: entry.state });
  expect(() => foldEntry(loaded([], snapshot), AGGREGATES, OLDER)).toThrow(
    expect.objectContaining({ code: ErrorCode.UNSUPPORTED_VERSION, reason: "UNKNOWN_EVENT" }),
  );
});

it("a snapshot of what everybody reads is read by everybody", () => {
  const entry = foldEntry({ ...loaded([created]), seq: 1 }, AGGREGATES, NEWER);
  expect(foldEntry({ ...loaded([], { seq: 1, bytes: snapshotBytes(entry) }), seq: 1 }, AGGREGATES, OLDER)).toMatchObject({ format: 1, seq: 1, stateSeq: 1 });
});

describe("a snapshot", () => {
  it.each([
    [{ events: 255, bytes: 1_000_000, snapshotBytes: 0 }, false],
    [{ events: 256, bytes: 10, snapshotBytes: 0 }, true],
    [{ events: 256, bytes: 99, snapshotBytes: 100 }, false],
    [{ events: 300, bytes: 100, snapshotBytes: 100 }, true],
  ])("is due once enough has come that weighs as much as the last: %o", (since, due) => {
    expect(isSnapshotDue(since)).toBe(due);
  });

  it("of a state that grows with its stream is taken ever more rarely, so that all of them together weigh no more than a few times the stream", () => {
    let since = { events: 0, bytes: 0, snapshotBytes: 0 };
    let stateBytes = 0;
    let written = 0;
    for (let event = 0; event < 100_000; event++) {
      stateBytes += 200;
      since = { ...since, events: since.events + 1, bytes: since.bytes + 300 };
      if (!isSnapshotDue(since)) continue;
      written += stateBytes;
      since = { events: 0, bytes: 0, snapshotBytes: stateBytes };
    }
    expect(written).toBeLessThan(4 * 100_000 * 300);
  });
});
