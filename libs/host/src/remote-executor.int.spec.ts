import { readFile } from "node:fs/promises";
import path from "node:path";
import { commandHeader, createConnectClient, followEvents } from "@forge/client";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { Decision } from "@forge/protocol/tool";
import pino from "pino";
import { expect, test } from "vitest";
import { startControlPlane } from "./control-plane.ts";
import { openDatabase } from "./database.ts";
import { startRemoteExecutor } from "./remote-executor.ts";
import { makeDirectory, removeDirectory } from "./testing/directory.ts";
import { grant, newToken } from "./tokens.ts";

const logger = pino({ level: "silent" });

async function startService(cleanup: AsyncDisposableStack) {
  const directory = await makeDirectory();
  cleanup.defer(() => removeDirectory(directory));
  const database = await openDatabase({ dataDirectory: path.join(directory, "data"), logger });
  cleanup.defer(() => database.close());
  const service = await startControlPlane({ connection: database.connection, port: 0, logger });
  cleanup.defer(() => service.close());
  const [clientToken, workerToken] = [newToken(), newToken()];
  await grant(service.store, clientToken, { id: "tester", role: "operator", namespaces: ["default"], queues: [] });
  await grant(service.store, workerToken, { id: "worker:tester", role: "worker", namespaces: ["default"], queues: ["granted"] });
  return { directory, service, clientToken, workerToken };
}

test("an executor of another process serves the queues that its credential grants, and no others", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { directory, service, clientToken, workerToken } = await startService(cleanup);
  const options = { url: service.url, token: workerToken, name: "remote", workspace: directory, environment: {}, logger };
  await expect(startRemoteExecutor({ ...options, queues: ["granted", "other"] })).rejects.toMatchObject({ code: ErrorCode.PERMISSION_DENIED });
  await expect(startRemoteExecutor({ ...options, token: clientToken, queues: ["granted"] })).rejects.toMatchObject({ code: ErrorCode.PERMISSION_DENIED });
  const executor = await startRemoteExecutor({ ...options, queues: ["granted"] });
  cleanup.defer(() => executor.stop());

  const client = createConnectClient({ url: service.url, token: clientToken });
  cleanup.defer(() => client.close());
  const { sessionId } = await client.session.createSession({ header: commandHeader(), agent: { model: "demo/echo" }, queue: "granted" });
  await client.session.startTurn({ header: commandHeader(), sessionId, input: [{ kind: { case: "text", value: { text: "Hello." } } }] });
  const kinds: string[] = [];
  for await (const followed of followEvents(client, {
    streams: [{ stream: { kind: StreamKind.SESSION, id: sessionId } }],
    signal: AbortSignal.timeout(20_000),
  })) {
    if (followed.kind === "event") kinds.push(followed.event.kind);
    if (kinds.at(-1) === "turn.completed") break;
  }
  expect(kinds.at(-1)).toBe("turn.completed");
});

test("models and tools can be left to different executors, of which the one with tools needs no key", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { directory, service, clientToken, workerToken } = await startService(cleanup);
  const options = { url: service.url, token: workerToken, queues: ["granted"], workspace: directory, environment: {}, logger };
  const client = createConnectClient({ url: service.url, token: clientToken });
  cleanup.defer(() => client.close());
  const agent = { model: "demo/script", tools: ["tools.file"] };
  const create = () =>
    client.session
      .createSession({ header: commandHeader(), agent, policy: { defaultDecision: Decision.ALLOW }, queue: "granted" })
      .then(({ sessionId }) => sessionId);

  const tools = await startRemoteExecutor({ ...options, name: "tools", serves: ["tools"] });
  cleanup.defer(() => tools.stop());
  const models = await startRemoteExecutor({ ...options, name: "models", serves: ["models"] });
  cleanup.defer(() => models.stop());

  const sessionId = await create();
  const script = [[{ call: "tools.file", arguments: { operation: "write", path: "a.txt", content: "written" } }], [{ text: "done" }]];
  await client.session.startTurn({ header: commandHeader(), sessionId, input: [{ kind: { case: "text", value: { text: JSON.stringify(script) } } }] });
  const streams = [{ stream: { kind: StreamKind.SESSION, id: sessionId } }];
  const kinds: string[] = [];
  for await (const followed of followEvents(client, { streams, signal: AbortSignal.timeout(20_000) })) {
    if (followed.kind === "event") kinds.push(followed.event.kind);
    if (/^turn\.(?:completed|failed)$/.test(kinds.at(-1) ?? "")) break;
  }
  expect(kinds).toEqual(expect.arrayContaining(["tool.completed", "turn.completed"]));
  expect(await readFile(path.join(directory, "a.txt"), "utf8")).toBe("written");
});
