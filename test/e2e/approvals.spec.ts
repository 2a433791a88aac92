import { type ConnectClient, commandHeader, createConnectClient, withRetry } from "@forge/client";
import { Decision } from "@forge/protocol/tool";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { createSession, eventsUntil, kindsOf, sessionStream, startTurn, turnEnded, useTool } from "../harness/work.ts";

let cluster: Cluster;
let client: ConnectClient;
beforeAll(async () => {
  cluster = await startCluster();
  client = cluster.client;
});
afterAll(() => cluster?.close());

interface Waiting {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
  readonly approvalId: string;
}

/** A turn whose one call waits for a person. */
async function waiting(ttlMs?: number): Promise<Waiting> {
  const approvalTtl = ttlMs === undefined ? undefined : { seconds: BigInt(Math.floor(ttlMs / 1000)), nanos: (ttlMs % 1000) * 1e6 };
  const sessionId = await createSession(client, { policy: { defaultDecision: Decision.ASK, approvalTtl } });
  const turnId = await startTurn(client, sessionId, useTool("test.append", {}));
  const last = (await eventsUntil(client, sessionStream(sessionId), (event) => event.kind === "tool.approval_required")).at(-1);
  if (last?.payload.case !== "toolApprovalRequired") throw new Error("there is no approval");
  return { sessionId, turnId, callId: last.toolCallId, approvalId: last.payload.value.approvalId };
}

function answer(by: ConnectClient, { sessionId, approvalId }: Waiting, decision: Decision) {
  const request = { header: commandHeader(), stream: sessionStream(sessionId), approvalId, decision };
  return withRetry(() => by.approval.resolveApproval(request));
}

async function expectInOrder({ sessionId }: Waiting): Promise<void> {
  expect(await cluster.inspector.violations({ id: sessionId, kind: "session" }, true)).toStrictEqual([]);
}

describe("an approval", () => {
  it("outlives a kill of everything, is listed again, and its answer lets the call go on", async () => {
    const approval = await waiting();
    await Promise.all([...cluster.executors, ...cluster.controlPlanes].map((service) => service.kill()));
    await cluster.database.crash();
    await cluster.controlPlanes[0]?.start();
    await cluster.executors[0]?.start();
    const { approvals } = await client.approval.listPendingApprovals({ stream: sessionStream(approval.sessionId) });
    expect(approvals.map(({ approvalId, tool, turnId }) => ({ approvalId, tool, turnId }))).toStrictEqual([
      { approvalId: approval.approvalId, tool: "test.append", turnId: approval.turnId },
    ]);
    await answer(client, approval, Decision.ALLOW);
    const events = await turnEnded(client, approval.sessionId, approval.turnId);
    expect(kindsOf(events.filter((event) => event.toolCallId === approval.callId))).toStrictEqual([
      "tool.requested",
      "tool.approval_required",
      "approval.resolved",
      "tool.started",
      "tool.completed",
    ]);
    expect((await cluster.effects()).get(approval.callId)).toBe(1);
    expect((await client.approval.listPendingApprovals({ stream: sessionStream(approval.sessionId) })).approvals).toStrictEqual([]);
    await expectInOrder(approval);
  });

  it("that two clients answer at once has one winner; the other is told the resolution, and everybody sees it once", async () => {
    const approval = await waiting();
    const other = createConnectClient({ url: cluster.urls[0] as string, token: cluster.clientToken });
    try {
      const outcomes = await Promise.allSettled([answer(client, approval, Decision.ALLOW), answer(other, approval, Decision.DENY)]);
      const won = outcomes.findIndex((outcome) => outcome.status === "fulfilled");
      const lost = outcomes[1 - won];
      const resolution = won === 0 ? /allow/i : /deny/i;
      expect(lost).toMatchObject({ status: "rejected", reason: { detail: { reason: "APPROVAL_RESOLVED" } } });
      expect(JSON.stringify((lost as PromiseRejectedResult).reason.detail.metadata)).toMatch(resolution);
      const events = await turnEnded(client, approval.sessionId, approval.turnId);
      expect(events.filter((event) => event.kind === "approval.resolved")).toHaveLength(1);
      expect((await cluster.effects()).get(approval.callId) ?? 0).toBe(won === 0 ? 1 : 0);
      await expectInOrder(approval);
    } finally {
      await other.close();
    }
  });

  it("that nobody answers in time is denied, and the call is never made", async () => {
    const approval = await waiting(300);
    const events = await turnEnded(client, approval.sessionId, approval.turnId);
    expect(kindsOf(events.filter((event) => event.toolCallId === approval.callId))).toStrictEqual([
      "tool.requested",
      "tool.approval_required",
      "approval.expired",
      "tool.denied",
    ]);
    expect((await cluster.effects()).get(approval.callId)).toBeUndefined();
    await expect(answer(client, approval, Decision.ALLOW)).rejects.toMatchObject({ detail: { reason: "APPROVAL_RESOLVED" } });
    await expectInOrder(approval);
  });

  it("that expired while nothing ran is denied once something runs again", async () => {
    const approval = await waiting(1_000);
    await cluster.controlPlanes[0]?.kill();
    await cluster.database.crash();
    await cluster.controlPlanes[0]?.start();
    const events = await turnEnded(client, approval.sessionId, approval.turnId);
    expect(kindsOf(events)).toContain("approval.expired");
    await expectInOrder(approval);
  });
});
