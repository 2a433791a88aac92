import { randomUUID } from "node:crypto";
import { create as message, toBinary } from "@bufbuild/protobuf";
import { commandHeader, createConnectClient, type ForgeClient, withRetry } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import { CloseSessionResponseSchema, CreateSessionResponseSchema, StartTurnResponseSchema } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { type Proxy, startProxy } from "../harness/proxy.ts";
import { refusalOf } from "../harness/refusal.ts";
import {
  createSession,
  eventsUntil,
  factsOf,
  say,
  sessionRequest,
  sessionStream,
  startRun,
  startTurn,
  threeSteps,
  turnEnded,
  until,
  useTool,
} from "../harness/work.ts";

const TIMES = 50;

let cluster: Cluster;
let proxy: Proxy;
let throughProxy: ForgeClient;
beforeAll(async () => {
  cluster = await startCluster({ controlPlanes: 2 });
  proxy = await startProxy(cluster.urls[0] as string);
  throughProxy = createConnectClient({ url: proxy.url, token: cluster.clientToken });
});
afterAll(async () => {
  await throughProxy?.close();
  await proxy?.close();
  await cluster?.close();
});

/** A turn that waits for a person. */
async function waitingForApproval(): Promise<{ sessionId: string; turnId: string; approvalId: string }> {
  const sessionId = await createSession(cluster.client, { policy: { defaultDecision: Decision.ASK } });
  const turnId = await startTurn(cluster.client, sessionId, useTool("test.append", {}));
  const events = await eventsUntil(cluster.client, sessionStream(sessionId), (event) => event.kind === "tool.approval_required");
  const last = events.at(-1)?.payload;
  if (last?.case !== "toolApprovalRequired") throw new Error("there is no approval");
  return { sessionId, turnId, approvalId: last.value.approvalId };
}

/** Every command of a session, ready to be sent any number of times; each with what must be on record of it once. */
async function commands(): Promise<Record<string, { send: (client: ForgeClient) => Promise<object>; sessionId: () => string; kind: string }>> {
  const created = sessionRequest();
  let createdId = "";
  const turnOf = await createSession(cluster.client);
  const start = { header: commandHeader(), sessionId: turnOf, input: [say("hello")] };
  const cancelOf = await createSession(cluster.client);
  const cancelled = await startTurn(cluster.client, cancelOf, "count to 1000");
  const cancel = { header: commandHeader(), sessionId: cancelOf, turnId: cancelled };
  const closeOf = await createSession(cluster.client);
  const close = { header: commandHeader(), sessionId: closeOf };
  const approvalOf = await waitingForApproval();
  const approve = { header: commandHeader(), stream: sessionStream(approvalOf.sessionId), approvalId: approvalOf.approvalId, decision: Decision.ALLOW };
  return {
    create: {
      send: async (client) => {
        const answer = await client.session.createSession(created);
        createdId = answer.sessionId;
        return answer;
      },
      sessionId: () => createdId,
      kind: "session.created",
    },
    "start turn": { send: (client) => client.session.startTurn(start), sessionId: () => turnOf, kind: "turn.started" },
    "cancel turn": { send: (client) => client.session.cancelTurn(cancel), sessionId: () => cancelOf, kind: "turn.cancel_requested" },
    close: { send: (client) => client.session.closeSession(close), sessionId: () => closeOf, kind: "session.closed" },
    approve: { send: (client) => client.approval.resolveApproval(approve), sessionId: () => approvalOf.sessionId, kind: "approval.resolved" },
  };
}

describe("a command whose answer was lost", () => {
  afterEach(async () => {
    await cluster.executors[0]?.restart();
  });

  it("is answered as it was when it is sent again, and has one effect", async () => {
    const sessionId = await createSession(cluster.client);
    const commandId = randomUUID();
    const request = { header: commandHeader(commandId), sessionId, input: [say("hello")] };
    proxy.loseAnswers();
    const answered = withRetry(() => throughProxy.session.startTurn(request));
    // The command is durable, and its answer is on the way into nothing.
    await until(
      "the command has its record",
      async () => (await refusalOf(cluster.client.event.getCommandResult({ stream: sessionStream(sessionId), commandId }))) === "accepted",
    );
    proxy.cut();
    const answer = await answered;
    await turnEnded(cluster.client, sessionId, answer.turnId);
    const events = await cluster.inspector.events(sessionId);
    expect(events.filter((event) => event.kind === "turn.started").map((event) => event.turnId)).toStrictEqual([answer.turnId]);
    const record = await cluster.client.event.getCommandResult({ stream: sessionStream(sessionId), commandId });
    expect(record.resultType).toBe("forge.session.v1.StartTurnResponse");
    expect(Buffer.from(record.result)).toStrictEqual(Buffer.from(toBinary(StartTurnResponseSchema, answer)));
  });

  it("is answered the same after a restart of everything, also where it would be refused by now", async () => {
    const create = sessionRequest();
    const created = await cluster.client.session.createSession(create);
    const turn = { header: commandHeader(), sessionId: created.sessionId, input: [say("hello")] };
    const started = await cluster.client.session.startTurn(turn);
    await turnEnded(cluster.client, created.sessionId, started.turnId);
    const close = { header: commandHeader(), sessionId: created.sessionId };
    const closed = await cluster.client.session.closeSession(close);
    // The executor stays away: nobody serves the session's model any more.
    await cluster.executors[0]?.kill();
    await Promise.all(cluster.controlPlanes.map((service) => service.kill()));
    await cluster.database.crash();
    await Promise.all(cluster.controlPlanes.map((service) => service.start()));
    await until(
      "nobody serves the model",
      async () => (await refusalOf(withRetry(() => cluster.client.session.createSession(sessionRequest())))) === "VALIDATION MODEL_NOT_SERVED",
    );
    const again = [
      await cluster.client.session.createSession(create),
      await cluster.client.session.startTurn(turn),
      await cluster.client.session.closeSession(close),
    ];
    expect(again).toStrictEqual([created, started, closed]);
    expect(await cluster.inspector.violations({ id: created.sessionId, kind: "session" }, true)).toStrictEqual([]);
  });
});

describe("a command that is sent fifty times at once, to two control planes", () => {
  it.for(["create", "start turn", "cancel turn", "close", "approve"])("%s has one effect and one answer", async (name) => {
    const command = (await commands())[name];
    if (command === undefined) throw new Error(name);
    const answers = await Promise.all(Array.from({ length: TIMES }, (_, index) => withRetry(() => command.send(cluster.clients[index % 2] as ForgeClient))));
    for (const answer of answers) expect(answer).toStrictEqual(answers[0]);
    const events = await cluster.inspector.events(command.sessionId());
    expect(events.filter((event) => event.kind === command.kind)).toHaveLength(1);
  });

  it("start run has one effect and one answer", async () => {
    const commandId = randomUUID();
    const ids = await Promise.all(Array.from({ length: TIMES }, (_, index) => startRun(cluster.clients[index % 2] as ForgeClient, threeSteps(), commandId)));
    expect(new Set(ids).size).toBe(1);
    const events = await cluster.inspector.events(ids[0] as string);
    expect(events.filter((event) => event.kind === "run.created")).toHaveLength(1);
  });
});

describe("a command id", () => {
  it("that was used for another request is refused, by whichever control plane", async () => {
    const request = sessionRequest();
    await cluster.client.session.createSession(request);
    for (const client of cluster.clients) {
      expect(await refusalOf(client.session.createSession({ ...request, title: "another" }))).toBe("CONFLICT COMMAND_ID_REUSED");
    }
  });

  it("that was used for another request at the same moment lets one of the two through", async () => {
    const sessionId = await createSession(cluster.client);
    const header = commandHeader();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        refusalOf((cluster.clients[index % 2] as ForgeClient).session.startTurn({ header, sessionId, input: [say(index < 10 ? "one" : "another")] })),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === "accepted")).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === "CONFLICT COMMAND_ID_REUSED")).toHaveLength(10);
  });

  it.for([
    ["blank", " "],
    ["empty", ""],
    ["too long", "x".repeat(129)],
    ["not ASCII", "grüße"],
    ["with a line end", "a\nb"],
  ])("that is %s is refused with the field's name", async ([, commandId]) => {
    const request = { ...sessionRequest(), header: commandHeader(commandId) };
    const call = cluster.client.session.createSession(request);
    await expect(call).rejects.toMatchObject({ detail: { metadata: { field: "header.command_id" } } });
    expect(await refusalOf(cluster.client.session.createSession(request))).toBe("VALIDATION");
  });

  it("of 128 visible characters is accepted", async () => {
    expect(await createSession(cluster.client, { commandId: randomUUID().padEnd(128, "~") })).not.toBe("");
  });
});

describe("a retry of a finished command", () => {
  it("does not get in the way of the next command that comes with it", async () => {
    const sessionId = await createSession(cluster.client);
    const first = { header: commandHeader(), sessionId, input: [say("first")] };
    const started = await cluster.client.session.startTurn(first);
    await turnEnded(cluster.client, sessionId, started.turnId);
    // Both reach the stream together; the retry has no effect, so it is no active turn that the other would collide with.
    const [again, second] = await Promise.all([
      cluster.client.session.startTurn(first),
      cluster.client.session.startTurn({ ...first, header: commandHeader(), input: [say("second")] }),
    ]);
    expect(again).toStrictEqual(started);
    await turnEnded(cluster.client, sessionId, second.turnId);
    expect(factsOf(await cluster.inspector.events(sessionId)).filter((kind) => kind === "turn.started")).toHaveLength(2);
  });
});

describe("two commands that expect the same seq", () => {
  it("have one winner, and the other is told the current seq", async () => {
    const request = sessionRequest();
    const { sessionId, seq } = await cluster.client.session.createSession(request);
    const attempts = await Promise.allSettled(
      cluster.clients.map((client, index) =>
        client.session.startTurn({ header: commandHeader(undefined, { expectedSeq: seq }), sessionId, input: [say(`number ${index}`)] }),
      ),
    );
    const lost = attempts.find((attempt) => attempt.status === "rejected");
    expect(attempts.filter((attempt) => attempt.status === "fulfilled")).toHaveLength(1);
    // The winner's turn had begun with two events when the loser came, if no more.
    expect(lost?.reason).toMatchObject({ detail: { reason: "SEQ_MISMATCH", metadata: { current_seq: expect.stringMatching(/^([3-9]|\d{2,})$/) } } });
  });
});

describe("GetCommandResult", () => {
  it("gives the answer of every command again, whichever control plane is asked", async () => {
    const request = sessionRequest();
    const created = await cluster.client.session.createSession(request);
    const close = { header: commandHeader(), sessionId: created.sessionId };
    const closed = await cluster.client.session.closeSession(close);
    for (const client of cluster.clients) {
      const ofCreate = await client.event.getCommandResult({ commandId: request.header.commandId, createKind: StreamKind.SESSION });
      expect(ofCreate.stream?.id).toBe(created.sessionId);
      expect(Buffer.from(ofCreate.result)).toStrictEqual(Buffer.from(toBinary(CreateSessionResponseSchema, created)));
      const ofClose = await client.event.getCommandResult({ commandId: close.header.commandId, stream: sessionStream(created.sessionId) });
      expect([ofClose.seq, Buffer.from(ofClose.result)]).toStrictEqual([
        closed.seq,
        Buffer.from(toBinary(CloseSessionResponseSchema, message(CloseSessionResponseSchema, closed))),
      ]);
    }
  });

  it("says of a command without effect that it may be sent again", async () => {
    const sessionId = await createSession(cluster.client);
    expect(await refusalOf(cluster.client.event.getCommandResult({ commandId: "never-sent", stream: sessionStream(sessionId) }))).toBe(
      "NOT_FOUND COMMAND_NOT_FOUND",
    );
  });
});
