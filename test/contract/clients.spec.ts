import { randomUUID } from "node:crypto";
import { commandHeader, type ForgeClient, followEvents } from "@forge/client";
import { ErrorCode } from "@forge/protocol/common";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CLIENTS } from "../harness/clients.ts";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { type Proxy, startProxy } from "../harness/proxy.ts";
import { createSession, PATIENCE_MS, say, sessionStream, startTurn, turnEnded } from "../harness/work.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.close());

const ECHO = { agent: { model: "demo/echo" } };

async function collect<T>(messages: AsyncIterable<T>, into: T[] = []): Promise<T[]> {
  for await (const message of messages) into.push(message);
  return into;
}

describe.each(CLIENTS)("a client over %s", (_name, connect) => {
  let proxy: Proxy;
  let client: ForgeClient;
  beforeEach(async () => {
    proxy = await startProxy(cluster.urls[0] as string);
    client = await connect({ url: proxy.url, token: cluster.clientToken });
  });
  afterEach(async () => {
    await client.close();
    await proxy.close();
  });

  it("creates a session, starts a turn, follows it to its end, and reads what was said", async () => {
    const commandId = randomUUID();
    const sessionId = await createSession(client, { ...ECHO, commandId });
    expect(await createSession(client, { ...ECHO, commandId })).toBe(sessionId);
    const text = "Grüße 👋 \u2028 to all.";
    const events = await turnEnded(client, sessionId, await startTurn(client, sessionId, text));
    expect(events.map(({ seq }) => Number(seq))).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)?.kind).toBe("turn.completed");
    const { messages } = await client.session.readConversation({ sessionId });
    expect(messages.map(({ parts }) => parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : kind.case)).join(""))).toEqual([text, text]);
    const { session } = await client.session.getSessionSnapshot({ sessionId });
    expect(session?.seq).toBe(events.at(-1)?.seq);
  });

  it("learns why it is refused, with all that the error says", async () => {
    const sessionId = await createSession(client, ECHO);
    await expect(client.session.getSessionSnapshot({ sessionId: randomUUID() })).rejects.toMatchObject({ name: "ForgeError", code: ErrorCode.NOT_FOUND });
    const header = commandHeader(randomUUID(), { expectedSeq: 99n });
    await expect(client.session.startTurn({ header, sessionId, input: [say("Hello.")] })).rejects.toMatchObject({
      code: ErrorCode.CONFLICT,
      reason: "SEQ_MISMATCH",
      detail: { metadata: { current_seq: "1" } },
    });
    await expect(client.session.createSession({ header: commandHeader(" ") })).rejects.toMatchObject({
      code: ErrorCode.VALIDATION,
      detail: { metadata: { field: "header.command_id" } },
    });
    const streams = [{ stream: sessionStream(sessionId), afterSeq: 99n }];
    await expect(collect(client.event.subscribeEvents({ streams }))).rejects.toMatchObject({ code: ErrorCode.CONFLICT, reason: "CURSOR_AHEAD" });
  });

  it("is told once that it has caught up, and gives its subscription up by a signal, or at its deadline", async () => {
    const sessionId = await createSession(client, ECHO);
    const streams = [{ stream: sessionStream(sessionId) }];
    const stop = new AbortController();
    const kinds: (string | undefined)[] = [];
    const following = (async () => {
      for await (const { kind } of client.event.subscribeEvents({ streams }, { signal: stop.signal })) {
        kinds.push(kind.case);
        if (kind.case === "caughtUp") stop.abort();
      }
    })();
    await expect(following).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    expect(kinds).toEqual(["event", "caughtUp"]);
    await expect(collect(client.event.subscribeEvents({ streams }, { timeoutMs: 500 }))).rejects.toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED });
  });

  it("misses nothing and gets nothing twice when its connection is lost", async () => {
    const sessionId = await createSession(client, ECHO);
    const seqs: number[] = [];
    let lost = 0;
    let turnId = "";
    const streams = [{ stream: sessionStream(sessionId) }];
    for await (const each of followEvents(client, { streams, onReconnect: () => lost++, signal: AbortSignal.timeout(PATIENCE_MS) })) {
      if (each.kind === "caughtUp") {
        proxy.cut();
        turnId = await startTurn(cluster.client, sessionId, "one two three four five six seven eight nine ten");
      }
      if (each.kind !== "event") continue;
      seqs.push(Number(each.event.seq));
      if (each.event.kind === "turn.started") proxy.cut();
      if (each.event.kind === "turn.completed") break;
    }
    const events = await turnEnded(cluster.client, sessionId, turnId);
    expect(seqs).toEqual(events.map(({ seq }) => Number(seq)));
    expect(lost).toBeGreaterThan(0);
  });

  it("keeps what it puts", async () => {
    const content = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251);
    const { artifact } = await client.artifact.putArtifact({ content, mediaType: "application/octet-stream" });
    const pieces = await collect(client.artifact.getArtifact({ sha256: artifact?.sha256 ?? "" }));
    expect(Buffer.concat(pieces.map((piece) => piece.content)).equals(content)).toBe(true);
  });
});
