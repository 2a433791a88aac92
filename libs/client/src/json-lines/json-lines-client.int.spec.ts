import { ErrorCode } from "@forge/protocol/common";
import { afterEach, describe, expect, it } from "vitest";
import type { ForgeClient } from "../forge-client.ts";
import { withRetry } from "../retry.ts";
import { createJsonLinesClient } from "./json-lines-client.ts";

const cleanup: ForgeClient[] = [];

afterEach(async () => {
  for (const client of cleanup.splice(0)) await client.close();
});

/** A client of a program that answers each line by what a function's text returns, a line for each element. */
function clientOf(answer: string, before = ""): ForgeClient {
  const program = `${before}
    const say = (line) => process.stdout.write((typeof line === "string" ? line : JSON.stringify(line)) + "\\n");
    const answer = ${answer};
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      for (const each of answer(JSON.parse(line)) ?? []) say(each);
    });`;
  const client = createJsonLinesClient({ command: process.execPath, args: ["--eval", program] });
  cleanup.push(client);
  return client;
}

async function collect<T>(messages: AsyncIterable<T>, into: T[] = []): Promise<T[]> {
  for await (const message of messages) into.push(message);
  return into;
}

describe("a client over lines of JSON", () => {
  it("sends a request with the names of the contract, and takes an answer with what it does not know", async () => {
    const client = clientOf(
      `({ id, method, params }) => [{ id, result: { session_id: JSON.stringify([method, params]), seq: "9007199254740993", newer: [1] } }]`,
    );
    const { sessionId, seq } = await client.session.createSession({ header: { commandId: "a", expectedSeq: 5n }, title: "größer \0 🙂\u2028" });
    expect(JSON.parse(sessionId)).toEqual(["SessionService.CreateSession", { header: { command_id: "a", expected_seq: "5" }, title: "größer \0 🙂\u2028" }]);
    expect(seq).toBe(2n ** 53n + 1n);
  });

  it("tells answers apart that come in another order", async () => {
    const client = clientOf(`(() => { const held = []; return ({ id, params }) => {
      held.push({ id, result: { session: { session_id: params.session_id } } });
      return held.length === 3 ? held.reverse() : [];
    }; })()`);
    const ids = ["a", "b", "c"];
    const answers = await Promise.all(ids.map((sessionId) => client.session.getSessionSnapshot({ sessionId })));
    expect(answers.map(({ session }) => session?.sessionId)).toEqual(ids);
  });

  it("throws an error with all it says, before and amid a stream", async () => {
    const error = `{ code: "ERROR_CODE_CONFLICT", reason: "SEQ_MISMATCH", message: "no", retryable: true, metadata: { current_seq: "7" }, retry_after: "3s", newer: 1 }`;
    const client = clientOf(`({ id, method }) => method === "SessionService.StartTurn" ? [{ id, error: ${error} }]
      : [{ id, result: {} }, { subscription: id, message: { caught_up: { incarnation: "x" } } }, { subscription: id, end: { error: ${error} } }]`);
    const expected = {
      name: "ForgeError",
      code: ErrorCode.CONFLICT,
      reason: "SEQ_MISMATCH",
      detail: { retryable: true, metadata: { current_seq: "7" }, retryAfter: { seconds: 3n } },
    };
    await expect(client.session.startTurn({})).rejects.toMatchObject(expected);
    const seen: unknown[] = [];
    await expect(collect(client.event.subscribeEvents({}), seen)).rejects.toMatchObject(expected);
    expect(seen).toMatchObject([{ kind: { case: "caughtUp", value: { incarnation: "x" } } }]);
  });

  it("cancels a call and a stream when its signal aborts, its time is over or its reader leaves", async () => {
    // Every call but a list is left open; a list tells what was cancelled.
    const client = clientOf(`(() => { const cancelled = []; return ({ id, method, params }) => {
      if (method === "cancel") cancelled.push(params.id);
      if (method === "EventService.SubscribeEvents") return [{ id, result: {} }, { subscription: id, message: {} }];
      if (method === "SessionService.ListSessions") return [{ id, result: { next_page_token: cancelled.join() } }];
    }; })()`);
    // One that was answered is none that is cancelled.
    await client.session.listSessions({});
    const stop = new AbortController();
    const call = client.session.getSessionSnapshot({}, { signal: stop.signal });
    await expect(client.session.getSessionSnapshot({}, { timeoutMs: 20 })).rejects.toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED });
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    await expect(collect(client.event.subscribeEvents({}, { timeoutMs: 20 }))).rejects.toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED });
    for await (const message of client.event.subscribeEvents({})) {
      expect(message).toBeDefined();
      break;
    }
    expect((await client.session.listSessions({})).nextPageToken.split(",").toSorted()).toEqual(["2", "3", "4", "5"]);
  });

  it("that is closed ends its open calls and its process, and takes no more", async () => {
    const client = clientOf("() => []");
    const call = client.session.listSessions({});
    const stream = collect(client.event.subscribeEvents({}));
    await Promise.all([
      expect(call).rejects.toMatchObject({ code: ErrorCode.CANCELLED }),
      expect(stream).rejects.toMatchObject({ code: ErrorCode.CANCELLED }),
      client.close(),
    ]);
    await expect(client.session.listSessions({})).rejects.toMatchObject({ code: ErrorCode.CANCELLED, message: "this client is closed" });
  });
});

describe("a process that", () => {
  it("ends leaves its calls with nobody knowing, and the next call finds a new one", async () => {
    const client = clientOf(
      `({ id, method }) => { if (method === "SessionService.StartTurn") process.exit(1); return [{ id, result: {} }]; }`,
      `console.error("out of luck");`,
    );
    await expect(client.session.startTurn({})).rejects.toMatchObject({
      code: ErrorCode.STORAGE_ERROR,
      reason: "TRANSPORT",
      message: expect.stringContaining("out of luck"),
      detail: { retryable: true },
    });
    await withRetry(() => client.session.listSessions({}));
  });

  it("says on its standard error why it can't serve is understood", async () => {
    const client = clientOf(
      "() => []",
      `console.error(JSON.stringify({ error: { code: "NOT_FOUND", reason: "PROJECT_NOT_FOUND", message: "no" } })); process.exit(3);`,
    );
    await expect(client.session.listSessions({})).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND, reason: "PROJECT_NOT_FOUND" });
  });

  it("can't be started is told at once and for good", async () => {
    const client = createJsonLinesClient({ command: "/nowhere/forge" });
    await expect(client.session.listSessions({})).rejects.toMatchObject({
      code: ErrorCode.VALIDATION,
      detail: { retryable: false, metadata: { field: "command" } },
    });
    await client.close();
  });

  it.each([
    ["rubbish", `() => ["{"]`],
    ["no object", `() => ["null"]`],
    ["an error that is none", `({ id }) => [{ id, error: [1] }]`],
  ])("says %s is ended, and its calls with it", async (_, answer) => {
    await expect(clientOf(answer).session.listSessions({})).rejects.toMatchObject({ code: ErrorCode.STORAGE_ERROR, reason: "TRANSPORT" });
  });

  it("says an answer that is none ends that call alone", async () => {
    const client = clientOf(`({ id, method }) => [{ id, result: method === "SessionService.ListSessions" ? { sessions: 5 } : {} }]`);
    await expect(client.session.listSessions({})).rejects.toMatchObject({ name: "ForgeError", code: ErrorCode.STORAGE_ERROR });
    await client.session.startTurn({});
  });
});
