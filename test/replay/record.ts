// Records the histories of a release: `node test/replay/record.ts 0.1.0` runs a few workflows and turns on a cluster of its own, and writes what was said of them to
// test/replay/<version>/. They are kept as they are: every later version must read them (replay.spec.ts).
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { create, toJson } from "@bufbuild/protobuf";
import { commandHeader } from "@forge/client";
import { type Event, EventSchema } from "@forge/protocol/event";
import { OnError, RunSchema, type StartRunRequest, StartRunRequestSchema } from "@forge/protocol/workflow";
import { startCluster } from "../harness/cluster.ts";
import { createSession, eventsUntil, runStream, sessionStream, startRun, startTurn, threeSteps, turnEnded, until, useTool } from "../harness/work.ts";

const version = process.argv[2];
if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) throw new Error("name the version: node test/replay/record.ts 0.1.0");
const directory = path.join(import.meta.dirname, version);
await mkdir(directory, { recursive: true });

const note = (id: string, options: object = {}) => ({ id, kind: { case: "function" as const, value: { name: "test.note" } }, ...options });
const wait = (id: string, kind: object, options: object = {}) => ({ id, kind: { case: "wait" as const, value: { kind } }, ...options });
const literal = (value: unknown) => ({ kind: { case: "literalJson" as const, value: JSON.stringify(value) } });
const call = { call: literal({}) };

function definition(id: string, steps: readonly object[], options: object = {}): StartRunRequest["definition"] {
  return create(StartRunRequestSchema, { definition: { id, version: "v1", onError: OnError.FAIL_FAST, steps: [...steps], ...options } as never }).definition;
}

const cluster = await startCluster();
const { client } = cluster;
const isEnd = ({ kind }: Event) => kind === "run.completed" || kind === "run.failed" || kind === "run.cancelled";

async function keep(name: string, events: readonly Event[], view?: object): Promise<void> {
  const lines = events.map((event) => JSON.stringify(toJson(EventSchema, event)));
  await writeFile(path.join(directory, `${name}.jsonl`), `${lines.join("\n")}\n`);
  if (view !== undefined) await writeFile(path.join(directory, `${name}.view.json`), `${JSON.stringify(view, null, 1)}\n`);
  console.log(`${name}: ${events.length} events`);
}

async function keepRun(name: string, runId: string, isLast = isEnd): Promise<void> {
  const events = await eventsUntil(client, runStream(runId), isLast);
  const { run } = await client.workflow.getRun({ runId });
  await keep(name, events, toJson(RunSchema, run as NonNullable<typeof run>) as object);
}

const start = async (id: string, steps: readonly object[], options: object = {}) =>
  (await client.workflow.startRun({ header: commandHeader(), definition: definition(id, steps, options) })).runId;

try {
  await keepRun("three-steps", await startRun(client, threeSteps()));
  const branches = [
    note("first", { inputs: call, next: [{ when: "state.steps.first == 1", goto: "never" }], nextDefault: "last" }),
    note("never", { inputs: call }),
    note("last", { inputs: call }),
  ];
  await keepRun("branches", await start("branches", branches));
  const graph = [
    note("a", { inputs: call }),
    { id: "absent", kind: { case: "tool", value: { tool: "tools.absent" } }, inputs: call, retry: { attempts: 2 } },
    note("child", { inputs: call, needs: ["absent"] }),
    note("each", { needs: ["a"], inputs: call, forEach: { items: literal([1, 2, 3]), concurrency: 2 } }),
    note("off", { inputs: call, needs: ["each"], when: "len(state.steps.each) > 3" }),
  ];
  await keepRun("graph", await start("graph", graph, { onError: OnError.CONTINUE }));

  const waits = await start("waits", [
    wait("go", { case: "signal", value: "go" }),
    wait("moment", { case: "duration", value: { nanos: 1_000_000 } }),
    note("last", { inputs: call }),
  ]);
  await client.workflow.pauseRun({ header: commandHeader(), runId: waits });
  await client.workflow.signalRun({ header: commandHeader(), runId: waits, name: "go", payload: { kind: { case: "json", value: '{"by":"hand"}' } } });
  await client.workflow.continueRun({ header: commandHeader(), runId: waits });
  await keepRun("waits", waits);
  const fork = await client.workflow.forkRun({ header: commandHeader(), runId: waits, stepId: "moment" });
  await keepRun("fork", fork.runId);

  const failing = await start("failing", [
    note("first", { inputs: call }),
    { id: "absent", kind: { case: "tool", value: { tool: "tools.absent" } }, inputs: call },
  ]);
  await eventsUntil(client, runStream(failing), isEnd);
  await client.workflow.resumeRun({ header: commandHeader(), runId: failing });
  let ends = 0;
  await keepRun("resumed", failing, (event) => isEnd(event) && ++ends === 2);

  const inner = definition("inner", [wait("go", { case: "signal", value: "go" })]);
  const outer = await start("outer", [{ id: "inner", kind: { case: "workflow", value: { definition: inner } } }]);
  await until("the inner run is there", async () => (await client.workflow.getRun({ runId: outer })).run?.steps[0]?.childRunId !== "");
  await client.workflow.cancelRun({ header: commandHeader(), runId: outer });
  await keepRun("cancelled", outer);

  const session = await createSession(client);
  await turnEnded(client, session, await startTurn(client, session, useTool("test.append", {})));
  const turnId = await startTurn(client, session, "Hello.");
  await keep("session", await eventsUntil(client, sessionStream(session), (event) => event.kind === "turn.completed" && event.turnId === turnId));
} finally {
  await cluster.close();
}
