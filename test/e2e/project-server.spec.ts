import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ConnectClient, createConnectClient } from "@forge/client";
import type { WorkflowDefinitionSchema } from "@forge/protocol/workflow";
import { OnError } from "@forge/protocol/workflow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Child } from "../harness/child.ts";
import { linesOf } from "../harness/lines.ts";
import { processesNaming } from "../harness/processes.ts";
import { createSession, eventsUntil, kindsOf, runEnded, runStream, sessionStream, startRun, startTurn, turnEnded, until } from "../harness/work.ts";

/** Each call leaves a line; `wait` leaves one at every tick until the file `go` is there. */
const FUNCTIONS = `
import { appendFileSync, existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
export function mark({ name, root }) {
  appendFileSync(root + "/marks", name + "\\n");
  return { name };
}
export async function wait({ root }) {
  appendFileSync(root + "/marks", "wait\\n");
  while (!existsSync(root + "/go")) {
    appendFileSync(root + "/ticks", "tick\\n");
    await delay(20);
  }
  return { waited: true };
}
`;

interface Ready {
  readonly url: string;
  readonly token: string;
  readonly dataDirectory: string;
}

let root: string;
let server: Child | undefined;
let client: ConnectClient;
let dataDirectory: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "forge-project-"));
  await mkdir(path.join(root, "functions"));
  await writeFile(path.join(root, "functions", "steps.js"), FUNCTIONS);
  await writeFile(path.join(root, "functions", "package.json"), '{"type":"module"}');
  await start();
});
afterEach(async () => {
  await client.close();
  await server?.kill();
  // The database of a killed server may still be on its way out.
  await until("nothing of the server is left", async () => (await processesNaming(dataDirectory)).length === 0);
  await rm(root, { recursive: true, force: true });
});

function startServer(): Promise<{ readonly child: Child; readonly ready: Ready }> {
  // Always embedded: it is what these tests are about.
  return Child.start<Ready>("project-entry.ts", { root, functionsDirectory: path.join(root, "functions"), leaseTtlMs: 1_500 });
}

async function start(): Promise<void> {
  const { child, ready } = await startServer();
  server = child;
  dataDirectory = ready.dataDirectory;
  client = createConnectClient({ url: ready.url, token: ready.token });
}

async function restart(): Promise<void> {
  await client.close();
  await start();
}

function marks(): Promise<readonly string[]> {
  return linesOf(path.join(root, "marks"));
}

async function ticks(): Promise<number> {
  return (await stat(path.join(root, "ticks"))).size;
}

function functionStep(id: string, name: string, input: Record<string, string>) {
  const inputs = Object.fromEntries(
    Object.entries(input).map(([key, value]) => [key, { kind: { case: "literalJson" as const, value: JSON.stringify(value) } }]),
  );
  return { id, kind: { case: "function" as const, value: { name } }, inputs };
}

function workflow(): MessageInitShape<typeof WorkflowDefinitionSchema> {
  return {
    id: "marks",
    version: "v1",
    onError: OnError.FAIL_FAST,
    steps: [
      functionStep("first", "steps.mark", { name: "first", root }),
      functionStep("second", "steps.wait", { root }),
      functionStep("third", "steps.mark", { name: "third", root }),
    ],
  };
}

describe("kill -9 of a project's server", () => {
  it("leaves neither database nor functions behind, and the next start goes on with runs and turns where they were", async () => {
    const runId = await startRun(client, workflow());
    await eventsUntil(client, runStream(runId), (event) => event.kind === "step.started" && event.stepId === "second");
    await until("the second step runs", async () => (await marks()).includes("wait"));
    const sessionId = await createSession(client);
    const turnId = await startTurn(client, sessionId, "count to 12");
    await eventsUntil(client, sessionStream(sessionId), (event) => event.kind === "turn.output_delta");

    await server?.kill();
    await until("the database is gone", async () => (await processesNaming(dataDirectory)).length === 0);
    await until("the function is gone", async () => {
      const before = await ticks();
      await delay(200);
      return (await ticks()) === before;
    });

    await restart();
    await writeFile(path.join(root, "go"), "");
    const events = await runEnded(client, runId);
    expect(events.at(-1)?.kind).toBe("run.completed");
    expect(events.filter((event) => event.kind === "step.completed").map((event) => event.stepId)).toStrictEqual(["first", "second", "third"]);
    // What was done is not done again; what was under way was begun anew.
    expect(await marks()).toStrictEqual(["first", "wait", "wait", "third"]);
    expect(kindsOf(await turnEnded(client, sessionId, turnId)).at(-1)).toBe("turn.completed");
  });

  it("can be followed by the next start at once", async () => {
    const sessionId = await createSession(client);
    for (let round = 0; round < 2; round++) {
      await server?.kill();
      await restart();
      const turnId = await startTurn(client, sessionId, `round ${round}`);
      expect((await turnEnded(client, sessionId, turnId)).at(-1)?.kind).toBe("turn.completed");
    }
  });
});

describe("a project's server", () => {
  it("refuses a second one on the same data", async () => {
    await expect(startServer()).rejects.toThrow(/DATA_DIRECTORY_IN_USE/);
    const sessionId = await createSession(client);
    await turnEnded(client, sessionId, await startTurn(client, sessionId, "hello"));
  });

  it("that is stopped leaves nothing running, and everything in order on its disk", async () => {
    const runId = await startRun(client, workflow());
    await until("the second step runs", async () => (await marks()).includes("wait"));
    await writeFile(path.join(root, "go"), "");
    await server?.stop();
    expect(await processesNaming(dataDirectory)).toStrictEqual([]);
    await restart();
    await runEnded(client, runId);
    expect((await marks()).filter((line) => line !== "wait")).toStrictEqual(["first", "third"]);
  });
});
