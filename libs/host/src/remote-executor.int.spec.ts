import path from "node:path";
import { commandHeader, createConnectClient, followEvents } from "@forge/client";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import pino from "pino";
import { expect, test } from "vitest";
import { startControlPlane } from "./control-plane.ts";
import { openDatabase } from "./database.ts";
import { startRemoteExecutor } from "./remote-executor.ts";
import { makeDirectory, removeDirectory } from "./testing/directory.ts";
import { grant, newToken } from "./tokens.ts";

const logger = pino({ level: "silent" });

test("an executor of another process serves the queues that its credential grants, and no others", async () => {
  const directory = await makeDirectory();
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => removeDirectory(directory));
  const database = await openDatabase({ dataDirectory: path.join(directory, "data"), logger });
  cleanup.defer(() => database.close());
  const service = await startControlPlane({ connection: database.connection, port: 0, logger });
  cleanup.defer(() => service.close());
  const [clientToken, workerToken] = [newToken(), newToken()];
  await grant(service.store, clientToken, { id: "tester", role: "operator", namespaces: ["default"], queues: [] });
  await grant(service.store, workerToken, { id: "worker:tester", role: "worker", namespaces: ["default"], queues: ["granted"] });

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
