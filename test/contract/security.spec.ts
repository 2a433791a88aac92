import { randomUUID } from "node:crypto";
import http from "node:http";
import net from "node:net";
import { networkInterfaces } from "node:os";
import { create } from "@bufbuild/protobuf";
import { type ConnectClient, commandHeader, createConnectClient } from "@forge/client";
import { grant, newToken } from "@forge/host";
import type { ArtifactRef } from "@forge/protocol/common";
import { PartSchema } from "@forge/protocol/session";
import { RiskLevel } from "@forge/protocol/tool";
import { CapabilityKind, type LeasedTask } from "@forge/protocol/worker";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, NAMESPACE, startCluster } from "../harness/cluster.ts";
import { refusal, refusalOf } from "../harness/refusal.ts";
import { createSession, eventsUntil, say, sessionRequest, sessionStream } from "../harness/work.ts";

let cluster: Cluster;
let url: string;
beforeAll(async () => {
  cluster = await startCluster();
  url = cluster.urls[0] as string;
});
afterAll(() => cluster?.close());

async function as<T>(token: string, use: (client: ConnectClient) => Promise<T>): Promise<T> {
  const client = createConnectClient({ url, token });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

describe("a caller", () => {
  it.for([
    ["without a token", ""],
    ["with an unknown token", newToken()],
    ["with a token that is none", "Basic abc"],
  ])("%s is refused", async ([, token]) => {
    await as(token as string, async (client) => {
      expect(await refusalOf(client.session.listSessions({}))).toBe("UNAUTHENTICATED");
      expect(await refusalOf(client.worker.register({ workerName: "stranger" }))).toBe("UNAUTHENTICATED");
    });
  });

  it("sees nothing of a namespace that its credential does not grant", async () => {
    const client = createConnectClient({ url, token: cluster.clientToken, namespace: "another" });
    expect(await refusalOf(client.session.listSessions({}))).toBe("PERMISSION_DENIED");
    await client.close();
    const token = newToken();
    await grant(cluster.store, token, { id: `elsewhere:${randomUUID()}`, role: "admin", namespaces: ["another"], queues: [] });
    const sessionId = await createSession(cluster.client);
    await as(token, async (stranger) => {
      expect(await refusalOf(stranger.session.getSessionSnapshot({ sessionId }))).toBe("NOT_FOUND");
      expect((await stranger.session.listSessions({})).sessions).toStrictEqual([]);
      const streams = stranger.event.subscribeEvents({ streams: [{ stream: sessionStream(sessionId) }] });
      expect(await refusalOf((async () => streams[Symbol.asyncIterator]().next())())).toBe("NOT_FOUND");
    });
  });
});

describe("a request", () => {
  /** fetch does not let its Host be chosen. */
  function status(headers: Record<string, string>, body = "{}"): Promise<number> {
    return new Promise((resolve, reject) => {
      const request = http.request(`${url}/forge.session.v1.SessionService/ListSessions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${cluster.clientToken}`, ...headers },
      });
      request.on("response", (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      request.on("error", reject);
      request.end(body);
    });
  }

  it("of a browser page, or under a name that was rebound to this machine, is refused", async () => {
    expect(await status({})).toBe(200);
    expect(await status({ origin: "https://example.org" })).toBe(403);
    expect(await status({ origin: "null" })).toBe(403);
    expect(await status({ host: "attacker.example" })).toBe(403);
    expect(await status({ host: `localhost:${new URL(url).port}` })).toBe(200);
  });

  it("that is too large is refused", async () => {
    const request = sessionRequest();
    const sessionId = await createSession(cluster.client);
    const large = "x".repeat(64 * 1024);
    expect(await refusalOf(cluster.client.session.createSession({ ...request, agent: { ...request.agent, system: `${large}!` } }))).toBe("VALIDATION");
    expect(await refusalOf(cluster.client.session.startTurn({ header: commandHeader(), sessionId, input: [say(`${large}!`)] }))).toBe("VALIDATION");
    expect(
      await refusalOf(
        cluster.client.session.createSession({ ...request, labels: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`k${index}`, ""])) }),
      ),
    ).toBe("VALIDATION");
    expect(await refusalOf(cluster.client.artifact.putArtifact({ mediaType: "text/plain", content: new Uint8Array(16 * 1024 * 1024 + 1) }))).toBe("VALIDATION");
    // The client does not even send what is larger than any request may be; what another one sends is refused.
    expect(await refusalOf(cluster.client.artifact.putArtifact({ mediaType: "text/plain", content: new Uint8Array(32 * 1024 * 1024) }))).toBe(
      "RESOURCE_EXHAUSTED",
    );
    expect(await status({}, JSON.stringify({ page_token: "x".repeat(32 * 1024 * 1024) }))).toBe(429);
    expect(await status({})).toBe(200);
  });

  it("with a NUL where the database can't keep one is refused, and harms no other", async () => {
    const outcomes = await Promise.all([
      ...Array.from({ length: 5 }, () => refusalOf(cluster.client.session.createSession({ ...sessionRequest(), title: "a\0b" }))),
      ...Array.from({ length: 5 }, () => refusalOf(cluster.client.session.createSession({ ...sessionRequest(), title: "ab" }))),
    ]);
    expect(outcomes).toStrictEqual([...Array.from({ length: 5 }, () => "VALIDATION"), ...Array.from({ length: 5 }, () => "accepted")]);
  });

  it("reaches the server over loopback only, unless it was told otherwise", async () => {
    const addresses = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).filter(({ internal, family }) => !internal && family === "IPv4"));
    const { port } = new URL(url);
    for (const { address } of addresses) expect(await connects(address, Number(port)), address).toBe(false);
    expect(await connects("127.0.0.1", Number(port))).toBe(true);
  });
});

function connects(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, host);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

describe("a lease", () => {
  /** Joins as a worker of its own for a tool that nobody else serves. */
  async function join(client: ConnectClient, tool: string): Promise<string> {
    const spec = { name: tool, description: "", inputSchemaJson: '{"type":"object"}', risk: RiskLevel.READ };
    const { workerSessionId } = await client.worker.register({
      version: { major: 1 },
      workerName: `worker-${randomUUID()}`,
      queues: ["default"],
      capabilities: [{ kind: CapabilityKind.TOOL, name: tool, tool: spec }],
      slots: 1,
    });
    return workerSessionId;
  }

  async function leasedBy(
    client: ConnectClient,
    workerSessionId: string,
    tool: string,
    artifact?: ArtifactRef,
  ): Promise<{ sessionId: string; leased: LeasedTask }> {
    const sessionId = await createSession(cluster.client, { agent: { tools: [tool] } });
    const attached = artifact === undefined ? [] : [create(PartSchema, { kind: { case: "artifact", value: artifact } })];
    await cluster.client.session.startTurn({ header: commandHeader(), sessionId, input: [say(`use the ${tool} tool with {}`), ...attached] });
    const { tasks } = await client.worker.leaseTasks({ workerSessionId, slots: 1, wait: { seconds: 10n } });
    const [leased] = tasks;
    if (leased === undefined) throw new Error("no task was leased");
    return { sessionId, leased };
  }

  interface Proof {
    readonly taskId: string;
    readonly epoch: number;
    readonly leaseToken: Uint8Array;
  }

  /** What each of the three calls answers to a proof. */
  async function attempts(client: ConnectClient, workerSessionId: string, lease: Proof): Promise<readonly string[]> {
    const said = async (call: Promise<{ answers: readonly { error?: { reason: string; code: number } }[] }>) => {
      try {
        const [answer] = (await call).answers;
        return answer?.error === undefined ? "accepted" : answer.error.reason || String(answer.error.code);
      } catch (error) {
        return refusal(error);
      }
    };
    return [
      await said(client.worker.startTasks({ workerSessionId, starts: [{ lease, kind: { case: "tool", value: {} } }] })),
      await said(client.worker.reportOutput({ workerSessionId, deltas: [{ lease, kind: { case: "tool", value: { text: "forged" } } }] })),
      await said(
        client.worker.settleTasks({
          workerSessionId,
          settlements: [{ lease, outcome: { case: "tool", value: { output: { kind: { case: "json", value: '"forged"' } } } } }],
        }),
      ),
    ];
  }

  it("holds only for the worker session that got it, with its token and its epoch", async () => {
    const tool = "test.guarded";
    await as(cluster.workerToken, async (worker) => {
      const mine = await join(worker, tool);
      const other = await join(worker, "test.unrelated");
      const { sessionId, leased } = await leasedBy(worker, mine, tool);
      const lease = { taskId: leased.taskId, epoch: leased.epoch, leaseToken: leased.leaseToken };
      const forged: readonly [string, string, typeof lease][] = [
        ["a wrong token", mine, { ...lease, leaseToken: new Uint8Array(16) }],
        ["no token", mine, { ...lease, leaseToken: new Uint8Array() }],
        ["an epoch before", mine, { ...lease, epoch: lease.epoch - 1 }],
        ["an epoch after", mine, { ...lease, epoch: lease.epoch + 1 }],
        ["another worker's session", other, lease],
      ];
      for (const [what, session, proof] of forged) expect(await attempts(worker, session, proof), what).not.toContain("accepted");
      expect((await cluster.inspector.events(sessionId)).at(-1)?.kind).toBe("tool.requested");
      const started = await worker.worker.startTasks({ workerSessionId: mine, starts: [{ lease, kind: { case: "tool", value: {} } }] });
      expect(started.answers[0]?.error).toBeUndefined();
      for (const [what, session, proof] of forged) expect(await attempts(worker, session, proof), what).not.toContain("accepted");
      expect((await cluster.inspector.events(sessionId)).at(-1)?.kind).toBe("tool.started");
      // The one that has it is served all the same.
      expect(await attempts(worker, mine, lease)).toStrictEqual(["accepted", "accepted", "accepted"]);
      await eventsUntil(cluster.client, sessionStream(sessionId), (event) => event.kind === "tool.completed");
    });
  });

  it("and its worker session are no use to another principal", async () => {
    const tool = "test.guarded_too";
    const token = newToken();
    await grant(cluster.store, token, { id: `worker:${randomUUID()}`, role: "worker", namespaces: [NAMESPACE], queues: [] });
    await as(cluster.workerToken, async (worker) => {
      const mine = await join(worker, tool);
      const { leased } = await leasedBy(worker, mine, tool);
      const lease = { taskId: leased.taskId, epoch: leased.epoch, leaseToken: leased.leaseToken };
      await as(token, async (thief) => {
        const refused = "NOT_FOUND WORKER_SESSION";
        expect(await attempts(thief, mine, lease)).toStrictEqual([refused, refused, refused]);
        expect(await refusalOf(thief.worker.heartbeat({ workerSessionId: mine }))).toBe(refused);
        expect(await refusalOf(thief.worker.leaseTasks({ workerSessionId: mine, slots: 1 }))).toBe(refused);
        expect(await refusalOf(thief.worker.drain({ workerSessionId: mine }))).toBe(refused);
      });
      expect(await attempts(worker, mine, lease)).toStrictEqual(["accepted", "accepted", "accepted"]);
    });
  });

  it("is what a worker reads and puts under: the conversation and the artifacts of its task, and nothing else", async () => {
    const tool = "test.guarded_reads";
    const put = async (text: string) => (await cluster.client.artifact.putArtifact({ content: Buffer.from(text), mediaType: "text/plain" })).artifact;
    // The model reads it behind the call's arguments, where white space changes nothing.
    const [shown, hidden] = [await put(" \n "), await put("hidden")];
    const get = async (client: ConnectClient, sha256: string | undefined, lease?: Proof) => {
      const pieces: string[] = [];
      for await (const { content } of client.artifact.getArtifact({ sha256, lease })) pieces.push(Buffer.from(content).toString());
      return pieces;
    };
    const token = newToken();
    await grant(cluster.store, token, { id: `worker:${randomUUID()}`, role: "worker", namespaces: [NAMESPACE], queues: [] });
    await as(cluster.workerToken, async (worker) => {
      const mine = await join(worker, tool);
      const { sessionId, leased } = await leasedBy(worker, mine, tool, shown);
      const lease = { taskId: leased.taskId, epoch: leased.epoch, leaseToken: leased.leaseToken };
      const otherSession = await createSession(cluster.client);
      const content = Buffer.from("made");
      const [required, lost] = ["PERMISSION_DENIED LEASE_REQUIRED", "CONFLICT LEASE_LOST"];

      for (const [client, proof, refused] of [
        [worker, undefined, required],
        [worker, { ...lease, leaseToken: new Uint8Array(16) }, lost],
        [worker, { ...lease, epoch: lease.epoch + 1 }, lost],
      ] as const) {
        expect(await refusalOf(client.session.readConversation({ sessionId, lease: proof }))).toBe(refused);
        expect(await refusalOf(client.artifact.putArtifact({ content, mediaType: "text/plain", lease: proof }))).toBe(refused);
        expect(await refusalOf(get(client, shown?.sha256, proof))).toBe(refused);
      }
      await as(token, async (thief) => {
        expect(await refusalOf(thief.session.readConversation({ sessionId, lease }))).toBe(lost);
        expect(await refusalOf(thief.artifact.putArtifact({ content, mediaType: "text/plain", lease }))).toBe(lost);
        expect(await refusalOf(get(thief, shown?.sha256, lease))).toBe(lost);
      });
      expect(await refusalOf(worker.session.readConversation({ sessionId: otherSession, lease }))).toBe(required);
      expect(await refusalOf(get(worker, hidden?.sha256, lease))).toBe(required);

      expect((await worker.session.readConversation({ sessionId, lease })).messages).not.toStrictEqual([]);
      expect((await worker.artifact.putArtifact({ content, mediaType: "text/plain", lease })).artifact?.size).toBe(4n);
      expect(await get(worker, shown?.sha256, lease)).toStrictEqual([" \n "]);

      expect(await attempts(worker, mine, lease)).toStrictEqual(["accepted", "accepted", "accepted"]);
      expect(await refusalOf(worker.session.readConversation({ sessionId, lease }))).toBe(lost);
      // Whoever is no worker needs none.
      expect(await get(cluster.client, hidden?.sha256)).toStrictEqual(["hidden"]);
    });
  });

  it("on a queue that the credential does not grant is never given", async () => {
    const token = newToken();
    await grant(cluster.store, token, { id: `worker:${randomUUID()}`, role: "worker", namespaces: [NAMESPACE], queues: ["elsewhere"] });
    await as(token, async (worker) => {
      const request = { version: { major: 1 }, workerName: "w", queues: ["default"], slots: 1 };
      expect(await refusalOf(worker.worker.register(request))).toBe("PERMISSION_DENIED");
    });
  });
});
