import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.close());

/** A call as curl would make it. */
async function call(
  method: string,
  body: object,
  headers: Record<string, string> = { authorization: `Bearer ${cluster.clientToken}` },
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${cluster.urls[0]}/forge.${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

function header(): object {
  return { version: { major: 1 }, command_id: randomUUID() };
}

describe("plain HTTP with JSON", () => {
  it("starts a turn and reads its end, with the field names of the contract", async () => {
    const created = await call("session.v1.SessionService/CreateSession", { header: header(), agent: { model: "demo/echo" } });
    expect(created).toMatchObject({ status: 200, body: { session_id: expect.any(String), seq: "1" } });
    const { session_id } = created.body as { session_id: string };
    const started = await call("session.v1.SessionService/StartTurn", { header: header(), session_id, input: [{ text: { text: "Grüße 👋" } }] });
    expect(started).toMatchObject({ status: 200, body: { turn_id: expect.any(String) } });
    await expect
      .poll(() => call("session.v1.SessionService/GetSessionSnapshot", { session_id }), { timeout: 30_000 })
      .toMatchObject({ status: 200, body: { session: { turn: { status: "TURN_STATUS_COMPLETED", outcome: "TURN_OUTCOME_TASK_COMPLETED" } } } });
    const conversation = await call("session.v1.SessionService/ReadConversation", { session_id });
    expect(conversation.body).toMatchObject({ messages: [{ role: "ROLE_USER" }, { role: "ROLE_ASSISTANT", parts: [{ text: { text: "Grüße 👋" } }] }] });
  });

  it("tells errors with their code, reason and field", async () => {
    const refused = await call("session.v1.SessionService/CreateSession", { header: { version: { major: 1 }, command_id: "" } });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "invalid_argument", details: [{ type: "forge.common.v1.ForgeError", debug: { metadata: { field: "header.command_id" } } }] },
    });
    const version = await call("session.v1.SessionService/CreateSession", { header: { version: { major: 2 }, command_id: "x" } });
    expect(version).toMatchObject({ status: 501, body: { code: "unimplemented" } });
  });

  it("is refused where it holds half a character, which no encoding can carry", async () => {
    const response = await fetch(`${cluster.urls[0]}/forge.session.v1.SessionService/CreateSession`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${cluster.clientToken}` },
      body: JSON.stringify({ header: header(), agent: { model: "demo/echo" }, title: "half" }).replace("half", "\\ud800"),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "invalid_argument" });
  });

  it("is refused without a token", async () => {
    expect(await call("session.v1.SessionService/ListSessions", {}, {})).toMatchObject({ status: 401, body: { code: "unauthenticated" } });
  });

  it("refuses an enum value that the server does not know, and a method that there is not", async () => {
    expect((await call("session.v1.SessionService/ListSessions", { status: "SESSION_STATUS_FROZEN" })).status).toBe(400);
    expect((await fetch(`${cluster.urls[0]}/forge.session.v1.SessionService/Nothing`, { method: "POST" })).status).toBe(404);
  });
});
