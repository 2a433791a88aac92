import type { WatchStreamsResponse } from "@forge/protocol/event";
import { SessionStatus, TurnStatus } from "@forge/protocol/session";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { KindedListing, Store } from "../ports/index.ts";
import { type WatchRequest, watch } from "./watch.ts";
import { Watchers } from "./watchers.ts";

const HEARTBEAT_MS = 15_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function aRow(streamId: string, row: Partial<KindedListing> = {}): KindedListing {
  return {
    streamId,
    kind: "session",
    status: "SESSION_STATUS_ACTIVE",
    detailStatus: "TURN_STATUS_RUNNING",
    title: "",
    subject: "demo/chat",
    version: "",
    labels: {},
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
    archived: false,
    ...row,
  };
}

/** A namespace whose rows a test sets. */
function setup() {
  const rows = new Map<string, KindedListing>();
  const listed = vi.fn<Store["listed"]>(async (_, ids) => ids.flatMap((id) => rows.get(id) ?? []));
  const onProblem = vi.fn<(error: unknown) => void>();
  const watchers = new Watchers({ listed }, onProblem);
  const change = (row: KindedListing, namespace = "default"): void => {
    rows.set(row.streamId, row);
    watchers.moved(namespace, row.streamId);
  };
  const open = (request: Partial<WatchRequest> = {}) => {
    const stop = new AbortController();
    const stream = watch({ namespace: "default", labels: {}, signal: stop.signal, ...request }, { watchers, heartbeatMs: HEARTBEAT_MS });
    /** The next message in words; nothing that takes a heartbeat's time. */
    const next = async (): Promise<string> => {
      const read = stream.next();
      await vi.advanceTimersByTimeAsync(100);
      const { kind } = (await read).value as WatchStreamsResponse;
      return kind.case === "changed"
        ? `${kind.value.stream?.id} ${kind.value.summary.case === "session" ? kind.value.summary.value.title : ""}`.trim()
        : String(kind.case);
    };
    return { stream, next, stop };
  };
  return { watchers, listed, onProblem, change, open };
}

describe("whoever watches", () => {
  it("is told that he is ready, then each change as lists show it", async () => {
    const { change, open } = setup();
    const { stream, next } = open();
    expect(await next()).toBe("ready");
    const read = stream.next();
    change(aRow("a", { title: "first" }));
    await vi.advanceTimersByTimeAsync(100);
    expect((await read).value).toMatchObject({
      kind: {
        case: "changed",
        value: {
          stream: { id: "a", kind: 1 },
          summary: { case: "session", value: { title: "first", status: SessionStatus.ACTIVE, turnStatus: TurnStatus.RUNNING } },
        },
      },
    });
  });

  it("is told of changes that come faster than he reads once, in their newest state", async () => {
    const { change, open, listed } = setup();
    const { next } = open();
    await next();
    for (let index = 0; index < 1_000; index++) {
      change(aRow(index % 2 === 0 ? "a" : "b", { title: `${index}` }));
      if (index % 100 === 0) await vi.advanceTimersByTimeAsync(30);
    }
    await vi.advanceTimersByTimeAsync(100);
    change(aRow("c"));
    expect([await next(), await next(), await next()]).toEqual(["a 998", "b 999", "c"]);
    expect(listed.mock.calls.length).toBeLessThan(20);
  });

  it("is not told of a stream that moved without a change in lists", async () => {
    const { change, open, watchers } = setup();
    const { next } = open();
    await next();
    change(aRow("a"));
    expect(await next()).toBe("a");
    watchers.moved("default", "a");
    await vi.advanceTimersByTimeAsync(100);
    change(aRow("b"));
    expect(await next()).toBe("b");
  });

  it.each<[string, Partial<WatchRequest>, string]>([
    ["a kind", { kind: "run" }, "run"],
    ["labels, all of them", { labels: { team: "core", area: "x" } }, "labelled"],
    ["a namespace", { namespace: "other" }, "elsewhere"],
  ])("is told only of %s that he asked for", async (_, request, expected) => {
    const { change, open } = setup();
    const { next } = open(request);
    await next();
    change(aRow("plain", { labels: { team: "core" } }));
    change(aRow("run", { kind: "run" }));
    change(aRow("labelled", { labels: { team: "core", area: "x", more: "1" } }));
    change(aRow("elsewhere"), "other");
    expect(await next()).toBe(expected);
  });

  it("hears a heartbeat while nothing changes", async () => {
    const { open } = setup();
    const { stream, next } = open();
    await next();
    const read = stream.next();
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS - 1);
    let came = false;
    void read.then(() => (came = true));
    await Promise.resolve();
    expect(came).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect((await read).value).toMatchObject({ kind: { case: "heartbeat" } });
  });

  it("is told to read his lists anew where something may have been missed: wake-ups that were lost, rows that could not be read, more than fits", async () => {
    const { change, open, watchers, listed, onProblem } = setup();
    const { next } = open();
    await next();
    change(aRow("a"));
    await vi.advanceTimersByTimeAsync(100);
    watchers.missed();
    expect(await next()).toBe("ready");
    listed.mockRejectedValueOnce(new Error("no database"));
    change(aRow("b"));
    expect(await next()).toBe("ready");
    expect(onProblem).toHaveBeenCalledOnce();
    for (let index = 0; index < 10_001; index++) watchers.moved("default", `${index}`);
    expect(await next()).toBe("ready");
    // What comes after that is told again.
    change(aRow("c"));
    expect(await next()).toBe("c");
  });

  it("leaves nothing behind when he goes", async () => {
    const { open, change, listed } = setup();
    const { stream, next, stop } = open();
    await next();
    const read = stream.next();
    stop.abort();
    expect(await read).toEqual({ done: true, value: undefined });
    change(aRow("a"));
    await vi.advanceTimersByTimeAsync(100);
    expect(listed).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("asks the store nothing where nobody watches", async () => {
  const { change, listed } = setup();
  change(aRow("a"));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(listed).not.toHaveBeenCalled();
});
