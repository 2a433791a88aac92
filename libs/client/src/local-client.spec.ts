import { create } from "@bufbuild/protobuf";
import type { Call } from "@forge/protocol";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { type CreateSessionRequest, CreateSessionRequestSchema, CreateSessionResponseSchema, GetSessionSnapshotResponseSchema } from "@forge/protocol/session";
import { describe, expect, it, vi } from "vitest";
import { createLocalClient, type LocalApis } from "./local-client.ts";

const CALLER = { namespace: "default", principal: "tester", queues: ["gpu"] };

function setup(overrides: { readonly session?: Partial<LocalApis["session"]>; readonly event?: Partial<LocalApis["event"]> }) {
  const none = { workflow: {}, schedule: {}, approval: {}, artifact: {}, workspace: {}, token: {}, worker: {} };
  const apis = { ...none, session: overrides.session ?? {}, event: overrides.event ?? {} } as unknown as LocalApis;
  return createLocalClient(apis, CALLER);
}

async function drain(messages: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of messages) count++;
  return count;
}

describe("a client without a wire", () => {
  it("hands the services whole messages and who calls", async () => {
    const createSession = vi
      .fn<(request: CreateSessionRequest, call: Call) => Promise<never>>()
      .mockResolvedValue(create(CreateSessionResponseSchema, { sessionId: "made" }) as never);
    const client = setup({ session: { createSession } });
    expect((await client.session.createSession({ title: "a" })).sessionId).toBe("made");
    expect(createSession).toHaveBeenCalledWith(create(CreateSessionRequestSchema, { title: "a" }), {
      ...CALLER,
      role: "admin",
      signal: expect.any(AbortSignal),
    });
  });

  it("throws what a service threw, and makes an error of Forge of a bug", async () => {
    const refusal = new ForgeError(ErrorCode.CONFLICT, "no");
    const bug = new TypeError("undefined is not a function");
    const client = setup({ session: { createSession: () => Promise.reject(refusal), listSessions: () => Promise.reject(bug) } });
    await expect(client.session.createSession({})).rejects.toBe(refusal);
    await expect(client.session.listSessions({})).rejects.toMatchObject({ name: "ForgeError", code: ErrorCode.INTERNAL, cause: bug });
  });

  it("refuses text that no wire could carry", async () => {
    const client = setup({ session: { createSession: () => expect.fail("must not be called") } });
    await expect(client.session.createSession({ labels: { $owner: "a\ud800" } })).rejects.toMatchObject({
      code: ErrorCode.VALIDATION,
      detail: { metadata: { field: "labels.$owner" } },
    });
  });

  it.each([true, false])(
    "ends a stream with `cancelled` when its caller gives it up, though the service ended it quietly (while reading: %s)",
    async (isReading) => {
      const subscribeEvents: LocalApis["event"]["subscribeEvents"] = async function* (_, { signal }) {
        yield create(SubscribeEventsResponseSchema);
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      };
      const client = setup({ event: { subscribeEvents } });
      const stop = new AbortController();
      const stream = client.event.subscribeEvents({}, { signal: stop.signal })[Symbol.asyncIterator]();
      await stream.next();
      if (!isReading) stop.abort();
      const next = stream.next();
      stop.abort();
      await expect(next).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
      await expect(drain(client.event.subscribeEvents({}, { signal: stop.signal }))).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    },
  );

  it("ends calls and streams at their deadline, which a call that is answered in time never hears of", async () => {
    const seen: AbortSignal[] = [];
    const client = setup({
      session: {
        listSessions: (_, { signal }) => {
          seen.push(signal);
          return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
        },
        getSessionSnapshot: async (_, { signal }) => {
          seen.push(signal);
          return create(GetSessionSnapshotResponseSchema);
        },
      },
      event: {
        subscribeEvents: async function* (_, { signal }) {
          yield create(SubscribeEventsResponseSchema);
          if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        },
      },
    });
    await client.session.getSessionSnapshot({}, { timeoutMs: 20 });
    await expect(client.session.listSessions({}, { timeoutMs: 20 })).rejects.toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED });
    await expect(drain(client.event.subscribeEvents({}, { timeoutMs: 20 }))).rejects.toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED });
    expect(seen.map(({ aborted }) => aborted)).toEqual([false, true]);
  });

  it("that is closed ends its open calls and takes no more", async () => {
    const listSessions: LocalApis["session"]["listSessions"] = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new DOMException("This operation was aborted", "AbortError")));
      });
    const client = setup({ session: { listSessions } });
    const open = client.session.listSessions({});
    await client.close();
    await expect(open).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    await expect(client.session.listSessions({})).rejects.toMatchObject({ code: ErrorCode.CANCELLED, message: "this client is closed" });
    await expect(drain(client.event.subscribeEvents({}))).rejects.toMatchObject({ code: ErrorCode.CANCELLED, message: "this client is closed" });
  });
});
