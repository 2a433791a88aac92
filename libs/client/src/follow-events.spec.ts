import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions } from "@forge/protocol";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind, type StreamRef } from "@forge/protocol/common";
import { SubscribeEventsRequestSchema, type SubscribeEventsResponse, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { describe, expect, it, vi } from "vitest";
import { type Followed, type FollowOptions, followEvents } from "./follow-events.ts";
import type { ForgeClient } from "./forge-client.ts";

type Stream = Pick<StreamRef, "kind" | "id">;

const RUN: Stream = { kind: StreamKind.RUN, id: "run" };
const CHILD: Stream = { kind: StreamKind.SESSION, id: "child" };

type Kind = MessageInitShape<typeof SubscribeEventsResponseSchema>["kind"];
/** What one subscription sends; an error ends it with that error, a function waits for what it returns. */
type Script = readonly (Kind | ForgeError | (() => Promise<unknown>))[];

function event(seq: number, stream = RUN, payload: object = {}): Kind {
  return { case: "event", value: { stream, seq: BigInt(seq), kind: "message.added", ...payload } };
}

function stepStarted(seq: number, sessionId: string): Kind {
  return event(seq, RUN, { payload: { case: "stepStarted", value: { sessionId } } });
}

function position(seq: number, stream = RUN) {
  return { stream, seq: BigInt(seq) };
}

function caughtUp(...positions: ReturnType<typeof position>[]): Kind {
  return { case: "caughtUp", value: { incarnation: "first", positions } };
}

const lost = new ForgeError(ErrorCode.STORAGE_ERROR, "connection reset", { reason: "TRANSPORT" });

/** A client whose subscriptions follow scripts, one after the other; a subscription beyond them fails. */
function scripted(...scripts: Script[]) {
  const asked: { readonly [id: string]: number }[] = [];
  const requests: MessageInitShape<typeof SubscribeEventsRequestSchema>[] = [];
  async function* subscribeEvents(
    request: MessageInitShape<typeof SubscribeEventsRequestSchema>,
    options?: CallOptions,
  ): AsyncGenerator<SubscribeEventsResponse> {
    requests.push(request);
    asked.push(
      Object.fromEntries((create(SubscribeEventsRequestSchema, request).streams ?? []).map(({ stream, afterSeq }) => [stream?.id ?? "", Number(afterSeq)])),
    );
    const script = scripts.shift() ?? [new ForgeError(ErrorCode.INTERNAL, "nobody expected this subscription")];
    for (const step of script) {
      if (step instanceof ForgeError) throw step;
      if (typeof step === "function") await step();
      else yield create(SubscribeEventsResponseSchema, { kind: step });
      if (options?.signal?.aborted === true) throw new ForgeError(ErrorCode.CANCELLED, "given up");
    }
  }
  return { client: { event: { subscribeEvents } } as unknown as ForgeClient, asked, requests };
}

/** What came, in short: a seq (of a child with its name), "caught up", or a position. */
function short(followed: Followed): string | number {
  if (followed.kind === "caughtUp") return "caught up";
  if (followed.kind === "position") return `at ${followed.position.seq}`;
  return followed.event.stream?.id === RUN.id ? Number(followed.event.seq) : `${followed.event.stream?.id} ${followed.event.seq}`;
}

async function follow(client: ForgeClient, options: Partial<FollowOptions> = {}, into: (string | number)[] = []): Promise<(string | number)[]> {
  for await (const followed of followEvents(client, { streams: [{ stream: RUN }], noFollow: true, ...options })) into.push(short(followed));
  return into;
}

describe("following", () => {
  it("asks for what it was told to", async () => {
    const { client, requests } = scripted([caughtUp()]);
    await follow(client, { streams: [{ stream: RUN, afterSeq: 7 }], followChildren: true, excludeKinds: ["turn.output_delta"] });
    expect(requests).toEqual([
      { streams: [{ stream: RUN, afterSeq: 7n }], followChildren: true, filter: { excludeKinds: ["turn.output_delta"] }, noFollow: true },
    ]);
  });

  it("goes on after the last event when the connection is lost, each event once and `caught up` once", async () => {
    const { client, asked } = scripted([event(1), event(2), caughtUp(), event(3), lost], [lost], [event(3), event(4), caughtUp(), event(5), caughtUp()]);
    const onReconnect = vi.fn<(error: ForgeError) => void>();
    expect(await follow(client, { onReconnect })).toEqual([1, 2, "caught up", 3, 4, 5]);
    expect(asked).toEqual([{ run: 0 }, { run: 3 }, { run: 3 }]);
    expect(onReconnect.mock.calls).toEqual([[lost], [lost]]);
  });

  it("goes on after positions as well, and never back behind what came", async () => {
    const { client, asked } = scripted(
      [event(3), { case: "position", value: position(9) }, lost],
      [{ case: "position", value: position(4) }, lost],
      [caughtUp(position(20)), lost],
      [caughtUp()],
    );
    expect(await follow(client)).toEqual([3, "at 9", "at 4", "caught up"]);
    expect(asked).toEqual([{ run: 0 }, { run: 9 }, { run: 9 }, { run: 20 }]);
  });

  it("subscribes again when the server ends the stream, unless it was to end", async () => {
    const stop = new AbortController();
    const { client, asked } = scripted([event(1), caughtUp()], [event(2), async () => stop.abort()]);
    expect(await follow(client, { noFollow: false, signal: stop.signal })).toEqual([1, "caught up", 2]);
    expect(asked).toEqual([{ run: 0 }, { run: 1 }]);
  });

  it.each([ErrorCode.NOT_FOUND, ErrorCode.CONFLICT, ErrorCode.UNAUTHENTICATED, ErrorCode.CANCELLED, ErrorCode.VALIDATION])(
    "fails with what a new connection would not mend: code %i",
    async (code) => {
      const error = new ForgeError(code, "no");
      const { client } = scripted([event(1), error]);
      const seen: (string | number)[] = [];
      await expect(follow(client, {}, seen)).rejects.toBe(error);
      expect(seen).toEqual([1]);
    },
  );

  it("goes on after it was too slow", async () => {
    const { client } = scripted([event(1), new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, "slow", { reason: "SLOW_SUBSCRIBER" })], [event(2), caughtUp()]);
    expect(await follow(client)).toEqual([1, 2, "caught up"]);
  });
});

describe("a follower that is stopped", () => {
  it("ends without an error, amid a stream", async () => {
    const stop = new AbortController();
    const { client } = scripted([event(1), async () => stop.abort(), event(2)]);
    expect(await follow(client, { noFollow: false, signal: stop.signal })).toEqual([1]);
  });

  it("ends without an error while it waits for its next attempt", async () => {
    const stop = new AbortController();
    const { client, asked } = scripted([lost], [lost], [lost]);
    expect(await follow(client, { noFollow: false, signal: stop.signal, onReconnect: () => stop.abort() })).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it("asks for nothing when it was stopped before", async () => {
    const { client, asked } = scripted();
    expect(await follow(client, { signal: AbortSignal.abort() })).toEqual([]);
    expect(asked).toEqual([]);
  });

  it("ends its subscription when its reader stops reading", async () => {
    const ended = vi.fn<() => void>();
    const client = {
      event: {
        async *subscribeEvents() {
          try {
            yield create(SubscribeEventsResponseSchema, { kind: event(1) });
          } finally {
            ended();
          }
        },
      },
    } as unknown as ForgeClient;
    for await (const followed of followEvents(client, { streams: [{ stream: RUN }] })) {
      expect(short(followed)).toBe(1);
      break;
    }
    expect(ended).toHaveBeenCalledTimes(1);
  });
});

describe("children that were met on the way", () => {
  it("are asked for by themselves after a reconnection", async () => {
    const { client, asked } = scripted(
      [stepStarted(2, "child"), event(1, CHILD), event(2, CHILD), event(3), lost],
      [event(3, CHILD), event(2, CHILD), caughtUp()],
    );
    expect(await follow(client, { followChildren: true })).toEqual([2, "child 1", "child 2", 3, "child 3", "caught up"]);
    expect(asked).toEqual([{ run: 0 }, { run: 3, child: 2 }]);
  });

  it("are not lost when the connection is, between the event that names them and their own first", async () => {
    const { client, asked } = scripted(
      [event(1), stepStarted(2, "child"), event(3), lost],
      [stepStarted(2, "child"), event(3), event(1, CHILD), lost],
      [caughtUp()],
    );
    expect(await follow(client, { followChildren: true })).toEqual([1, 2, 3, "child 1", "caught up"]);
    expect(asked).toEqual([{ run: 0 }, { run: 1 }, { run: 3, child: 1 }]);
  });

  it("are those of sub-agents and of workflow steps as well, and no more are asked for than one subscription may name", async () => {
    const toolStarted = event(1, CHILD, { payload: { case: "toolStarted", value: { childSessionId: "grandchild" } } });
    const runStarted = event(2, RUN, { payload: { case: "stepStarted", value: { childRunId: "sub-run" } } });
    const many = Array.from({ length: 1_100 }, (_, index) => event(1, { kind: StreamKind.SESSION, id: `c${index}` }));
    const { client, asked } = scripted([stepStarted(1, "child"), runStarted, toolStarted, lost], [...many, lost], [caughtUp()]);
    await follow(client, { followChildren: true });
    // What is named and has not come is asked for by the event that names it.
    expect(asked.slice(0, 2)).toEqual([{ run: 0 }, { run: 1, child: 0 }]);
    expect(Object.keys(asked[2] ?? {})).toHaveLength(1_000);
    expect(asked[2]).toMatchObject({ run: 1, child: 0, c0: 1 });
  });

  it("take no room from streams that were named: all of them are asked for, so that the server refuses too many", async () => {
    const { client, asked } = scripted([caughtUp()]);
    const streams = Array.from({ length: 1_001 }, (_, index) => ({ stream: { kind: StreamKind.RUN, id: `r${index}` } }));
    await follow(client, { streams, followChildren: true });
    expect(Object.keys(asked[0] ?? {})).toHaveLength(1_001);
  });

  it("are nobody's concern when children are not followed", async () => {
    const { client, asked } = scripted([stepStarted(2, "child"), lost], [caughtUp()]);
    expect(await follow(client)).toEqual([2, "caught up"]);
    expect(asked).toEqual([{ run: 0 }, { run: 2 }]);
  });
});
