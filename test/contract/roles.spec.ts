import { create } from "@bufbuild/protobuf";
import { type ConnectClient, createConnectClient } from "@forge/client";
import { grant, newToken } from "@forge/host";
import { ROLES, type Role } from "@forge/protocol";
import { ArtifactService } from "@forge/protocol/artifact";
import { AccessRole } from "@forge/protocol/common";
import { ApprovalService, EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { CreateTokenRequestSchema, TokenService } from "@forge/protocol/token";
import { WorkerService } from "@forge/protocol/worker";
import { ScheduleService, WorkflowService } from "@forge/protocol/workflow";
import { WorkspaceService } from "@forge/protocol/workspace";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, NAMESPACE, startCluster } from "../harness/cluster.ts";
import { refusal, refusalOf } from "../harness/refusal.ts";
import { createSession, sessionRequest, sessionStream, until } from "../harness/work.ts";

const SERVICES = {
  session: SessionService,
  workflow: WorkflowService,
  schedule: ScheduleService,
  event: EventService,
  approval: ApprovalService,
  artifact: ArtifactService,
  workspace: WorkspaceService,
  token: TokenService,
  worker: WorkerService,
} as const;

/** By a worker's lease. */
const LEASED = ["SessionService.ReadConversation", "SessionService.ListChanges", "ArtifactService.PutArtifact", "ArtifactService.GetArtifact"];

/** What common.proto says of the roles, as rules over the names of rpcs. */
function mayCall(role: Role, service: string, rpc: string): boolean {
  if (role === "worker") return service === "WorkerService" || LEASED.includes(`${service}.${rpc}`);
  if (service === "WorkerService") return false;
  if (service === "TokenService" || rpc === "ArchiveRuns") return role === "admin";
  if (rpc === "ResolveApproval") return role === "approver" || role === "admin";
  if (/^(?:Get|List|Read|Replay|Subscribe|Watch)/.test(rpc)) return true;
  return role === "operator" || role === "admin";
}

let cluster: Cluster;
let url: string;
const clients = new Map<Role, ConnectClient>();
beforeAll(async () => {
  // A worker that only waits sends no heartbeats here.
  cluster = await startCluster({ leaseTtlMs: 60_000 });
  url = cluster.urls[0] as string;
  for (const role of ROLES) {
    const token = newToken();
    await grant(cluster.store, token, { id: `role:${role}`, role, namespaces: [NAMESPACE], queues: [] });
    clients.set(role, createConnectClient({ url, token }));
  }
});
afterAll(async () => {
  for (const client of clients.values()) await client.close();
  await cluster?.close();
});

const RPCS = Object.entries(SERVICES).flatMap(([api, service]) =>
  service.methods.map((method) => ({ name: `${service.name}.${method.name}`, api: api as keyof typeof SERVICES, service, method })),
);

describe.each(ROLES)("the role %s", (role) => {
  it.each(RPCS)("calls $name only where it may", async ({ api, service, method }) => {
    type Answer = Promise<unknown> & AsyncIterable<unknown>;
    const functions = (clients.get(role) as ConnectClient)[api] as unknown as Record<string, (request: object, options: object) => Answer>;
    const give = new AbortController();
    // Without a field set no rpc has an effect: it is refused for what is missing, or reads nothing.
    const answer = functions[method.localName]?.(create(method.input), { signal: give.signal }) as Answer;
    const said = await refusalOf(method.methodKind === "unary" ? answer : answer[Symbol.asyncIterator]().next());
    give.abort();
    expect(said === "PERMISSION_DENIED ROLE_REQUIRED", said).toBe(!mayCall(role, service.name, method.name));
    if (said.startsWith("PERMISSION_DENIED") && mayCall(role, service.name, method.name)) expect(said).toBe("PERMISSION_DENIED LEASE_REQUIRED");
  });
});

describe("a token", () => {
  const admin = () => clients.get("admin") as ConnectClient;
  const requestFor = async (name: string, token: string, namespaces: string[]) =>
    create(CreateTokenRequestSchema, {
      grant: { name, role: AccessRole.VIEWER, namespaces },
      tokenSha256: new Uint8Array(await crypto.subtle.digest("SHA-256", Buffer.from(token))),
    });

  it("that is granted over the wire works at once, and its streams and calls end within five seconds of its withdrawal", async () => {
    const text = newToken();
    const request = await requestFor("wire", text, [NAMESPACE]);
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => admin().token.createToken(request)));
    for (const other of others) expect(other).toStrictEqual(first);
    expect((await admin().token.listTokens({})).tokens.map(({ grant: granted }) => granted?.name)).toContain("wire");
    const sessionId = await createSession(cluster.client);
    const client = createConnectClient({ url, token: text });
    try {
      expect(await refusalOf(client.session.createSession(sessionRequest()))).toBe("PERMISSION_DENIED ROLE_REQUIRED");
      const ended = (async () => {
        try {
          for await (const _ of client.event.subscribeEvents({ streams: [{ stream: sessionStream(sessionId) }] }));
          return "ended";
        } catch (error) {
          return refusal(error);
        }
      })();
      const withdrawnAtMs = Date.now();
      await admin().token.revokeToken({ name: "wire" });
      expect(await ended).toBe("UNAUTHENTICATED");
      await until("the token's end", async () => (await refusalOf(client.session.listSessions({}))) === "UNAUTHENTICATED");
      // Five seconds, and what a busy machine may add.
      expect(Date.now() - withdrawnAtMs).toBeLessThan(15_000);
      expect(await refusalOf(admin().token.revokeToken({ name: "wire" }))).toBe("NOT_FOUND TOKEN_NOT_FOUND");
    } finally {
      await client.close();
    }
  });

  it("of a worker ends what waits for work with it, and none comes", async () => {
    const text = newToken();
    await grant(cluster.store, text, { id: "leaving", role: "worker", namespaces: [NAMESPACE], queues: [] });
    const client = createConnectClient({ url, token: text });
    try {
      const { workerSessionId } = await client.worker.register({ version: { major: 1, minor: 0 }, workerName: "leaving", queues: ["nobody-asks"], slots: 1 });
      const waiting = refusalOf(client.worker.leaseTasks({ workerSessionId, slots: 1, wait: { seconds: 60n } }));
      await admin().token.revokeToken({ name: "leaving" });
      const beganMs = Date.now();
      expect(await waiting).toBe("UNAUTHENTICATED");
      expect(Date.now() - beganMs).toBeLessThan(30_000);
    } finally {
      await client.close();
    }
  });

  it("of a worker that grants fewer queues than before is no good for what was registered with the wider one", async () => {
    const [wide, narrow] = [newToken(), newToken()];
    const principal = { id: "narrowed", role: "worker", namespaces: [NAMESPACE] } as const;
    await grant(cluster.store, wide, { ...principal, queues: [] });
    const before = createConnectClient({ url, token: wide });
    const after = createConnectClient({ url, token: narrow });
    try {
      const { workerSessionId } = await before.worker.register({ version: { major: 1, minor: 0 }, workerName: "narrowed", queues: ["gpu"], slots: 1 });
      await grant(cluster.store, narrow, { ...principal, queues: ["cpu"] });
      expect(await refusalOf(after.worker.leaseTasks({ workerSessionId, slots: 1 }))).toBe("NOT_FOUND WORKER_SESSION");
      expect(await refusalOf(after.worker.heartbeat({ workerSessionId }))).toBe("NOT_FOUND WORKER_SESSION");
    } finally {
      await Promise.all([before.close(), after.close()]);
    }
  });

  it("that has expired says so", async () => {
    const text = newToken();
    await grant(cluster.store, text, { id: "expired", role: "admin", namespaces: [NAMESPACE], queues: [], expiresAtMs: Date.now() - 1 });
    const client = createConnectClient({ url, token: text });
    expect(await refusalOf(client.session.listSessions({}))).toBe("UNAUTHENTICATED TOKEN_EXPIRED");
    await client.close();
  });

  it("is granted no namespace that its granter does not have", async () => {
    const request = await requestFor("wide", newToken(), [NAMESPACE, "another"]);
    expect(await refusalOf(admin().token.createToken(request))).toBe("PERMISSION_DENIED NAMESPACE_NOT_GRANTED");
  });
});
