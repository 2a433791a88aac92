import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ConnectClient, commandHeader } from "@forge/client";
import type { Event } from "@forge/protocol/event";
import { Decision, RiskLevel } from "@forge/protocol/tool";
import { OnError } from "@forge/protocol/workflow";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { linesOf } from "../harness/lines.ts";
import { processesNaming } from "../harness/processes.ts";
import { pythonWithForge } from "../harness/python.ts";
import { PythonWorker } from "../harness/python-worker.ts";
import { createSession, eventsUntil, factsOf, kindsOf, runEnded, sessionStream, startRun, startTurn, turnEnded, until, useTool } from "../harness/work.ts";

const TOOLS = path.join(import.meta.dirname, "..", "harness", "python_tools.py");
const NAMES = ["py.pay", "py.look", "py.stuck", "py.late", "py.crash", "py.again"];

let cluster: Cluster;
let client: ConnectClient;
let directory: string;
let effects: string;
/** Serves the tools of these tests; started again where a test has ended it, which takes longer than most tests. */
let python: PythonWorker | undefined;
let others: PythonWorker[] = [];

beforeAll(async () => {
  // Made before anything waits for it.
  await pythonWithForge();
  cluster = await startCluster();
  client = cluster.client;
}, 300_000);
afterAll(async () => {
  await python?.kill();
  await cluster?.close();
});
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "forge-python-"));
  effects = path.join(directory, "effects");
});
afterEach(async () => {
  for (const worker of others) await worker.kill();
  others = [];
  await rm(directory, { recursive: true, force: true });
});

async function servePython(): Promise<PythonWorker> {
  python ??= await PythonWorker.start({ ...server(), file: TOOLS, name: "python" });
  return python;
}

async function killPython(): Promise<void> {
  await python?.kill();
  python = undefined;
}

function server() {
  return { url: cluster.urls[0] as string, token: cluster.workerToken };
}

/** A session with the Python tools, which it may use without asking unless the policy says otherwise. */
function pythonSession(policy?: object, agent?: object): Promise<string> {
  return createSession(client, { agent: { tools: NAMES, ...agent }, ...(policy === undefined ? {} : { policy }) });
}

function useNamed(tool: string, args: object): string {
  return `use the ${tool} tool with ${JSON.stringify(args)}`;
}

/** The whole turn of one call. */
async function turnOf(tool: string, args: object): Promise<readonly Event[]> {
  const sessionId = await pythonSession();
  return turnEnded(client, sessionId, await startTurn(client, sessionId, useNamed(tool, args)));
}

/** The events of the turn's one call. */
function callEvents(events: readonly Event[]): readonly Event[] {
  return events.filter((event) => event.toolCallId !== "");
}

function lastOf<Case extends Event["payload"]["case"]>(events: readonly Event[], kind: Case) {
  const found = events.findLast((event) => event.payload.case === kind);
  if (found === undefined) throw new Error(`there is no ${kind}: ${kindsOf(events).join(", ")}`);
  return found.payload.value as Extract<Event["payload"], { case: Case }>["value"];
}

describe("a tool that a Python worker serves", () => {
  it("passes the gate: a risky one waits for a person, and has its effect only after the answer", async () => {
    await servePython();
    const sessionId = await pythonSession({});
    const turnId = await startTurn(client, sessionId, useNamed("py.pay", { effects, cents: 5 }));
    const waiting = (await eventsUntil(client, sessionStream(sessionId), (event) => event.kind === "tool.approval_required")).at(-1) as Event;
    const { approvals } = await client.approval.listPendingApprovals({ stream: sessionStream(sessionId) });
    expect(approvals.map(({ tool, risk }) => ({ tool, risk }))).toStrictEqual([{ tool: "py.pay", risk: RiskLevel.EXECUTE }]);
    expect(await linesOf(effects)).toStrictEqual([]);
    if (waiting.payload.case !== "toolApprovalRequired") throw new Error("there is no approval");
    const { approvalId } = waiting.payload.value;
    await client.approval.resolveApproval({ header: commandHeader(), stream: sessionStream(sessionId), approvalId, decision: Decision.ALLOW });
    const events = await turnEnded(client, sessionId, turnId);
    expect(factsOf(callEvents(events))).toStrictEqual(["tool.requested", "tool.approval_required", "approval.resolved", "tool.started", "tool.completed"]);
    expect(JSON.parse(lastOf(events, "toolCompleted").output?.kind.value as string)).toStrictEqual({ paid: 5, call: waiting.toolCallId });
    expect(lastOf(events, "toolStarted").worker).toBe("python");
    expect(await linesOf(effects)).toHaveLength(1);
    expect(await cluster.inspector.violations({ id: sessionId, kind: "session" }, true)).toStrictEqual([]);
  });

  it("that only reads is called without asking; wrong arguments are refused by name before anything happens", async () => {
    await servePython();
    const sessionId = await pythonSession({});
    const good = await turnEnded(client, sessionId, await startTurn(client, sessionId, useNamed("py.look", { unit: "f" })));
    expect(factsOf(callEvents(good))).toStrictEqual(["tool.requested", "tool.completed"]);
    const turnId = await startTurn(client, sessionId, useNamed("py.look", { unit: "kelvin" }));
    const bad = (await turnEnded(client, sessionId, turnId)).filter((event) => event.turnId === turnId);
    expect(factsOf(callEvents(bad))).toStrictEqual(["tool.requested", "tool.failed"]);
    expect(lastOf(bad, "toolFailed").error).toMatchObject({ reason: "TOOL_ARGUMENTS", metadata: { field: "arguments.unit" } });
  });

  it("that ignores a cancellation is killed with all that it started, and the turn is cancelled", async () => {
    await servePython();
    const mark = `${900_000 + process.pid}`;
    const sessionId = await pythonSession();
    const turnId = await startTurn(client, sessionId, useNamed("py.stuck", { effects, mark }));
    await until("the tool is stuck", async () => (await linesOf(effects)).includes("stuck"));
    expect(await processesNaming(mark)).toHaveLength(1);
    await client.session.cancelTurn({ header: commandHeader(), sessionId, turnId });
    const events = await turnEnded(client, sessionId, turnId);
    expect(factsOf(callEvents(events)).at(-1)).toBe("tool.cancelled");
    expect(events.at(-1)?.kind).toBe("turn.cancelled");
    expect(await processesNaming(mark)).toStrictEqual([]);
  });

  it("that takes longer than it may is stopped, and says so", async () => {
    await servePython();
    const events = await turnOf("py.late", {});
    expect(factsOf(callEvents(events))).toStrictEqual(["tool.requested", "tool.started", "tool.failed"]);
    expect(lastOf(events, "toolFailed").error?.message).toContain("py.late did not end within 0.5 s");
  });

  it("whose process dies is settled as unknown, and the worker goes on", async () => {
    const worker = await servePython();
    const events = await turnOf("py.crash", {});
    expect(factsOf(callEvents(events))).toStrictEqual(["tool.requested", "tool.started", "tool.settled_unknown"]);
    expect(lastOf(events, "toolSettledUnknown").reason).toContain("ended with exit code 7");
    expect(worker.count("py.crash")).toBeGreaterThan(0);
    expect(factsOf(callEvents(await turnOf("py.look", {}))).at(-1)).toBe("tool.completed");
  });
});

describe("a Python worker that is killed with -9", () => {
  it("leaves a terminal event of what had started, and no process", async () => {
    await servePython();
    const mark = `${910_000 + process.pid}`;
    const sessionId = await pythonSession();
    const turnId = await startTurn(client, sessionId, useNamed("py.stuck", { effects, mark }));
    await until("the tool is stuck", async () => (await linesOf(effects)).includes("stuck"));
    await killPython();
    const events = await turnEnded(client, sessionId, turnId);
    expect(factsOf(callEvents(events))).toStrictEqual(["tool.requested", "tool.started", "tool.settled_unknown"]);
    expect(events.at(-1)?.kind).toBe("turn.completed");
    await until("its processes have ended", async () => (await processesNaming(mark)).length === 0);
    expect(await linesOf(effects)).toStrictEqual(["stuck"]);
  });

  it("is given what may be done again once it is back under its name", async () => {
    await servePython();
    const hold = path.join(directory, "hold");
    await writeFile(hold, "");
    const sessionId = await pythonSession();
    const turnId = await startTurn(client, sessionId, useNamed("py.again", { effects, hold }));
    await until("the call runs", async () => (await linesOf(effects)).length === 1);
    await killPython();
    await rm(hold);
    await servePython();
    const events = await turnEnded(client, sessionId, turnId);
    expect(factsOf(callEvents(events)).at(-1)).toBe("tool.completed");
    expect(await linesOf(effects)).toHaveLength(2);
  });
});

describe("a Python worker whose control plane is killed", () => {
  it("goes on with its call, and settles it once the control plane is back", async () => {
    await servePython();
    const hold = path.join(directory, "hold");
    await writeFile(hold, "");
    const sessionId = await pythonSession();
    const turnId = await startTurn(client, sessionId, useNamed("py.again", { effects, hold }));
    await until("the call runs", async () => (await linesOf(effects)).length > 0);
    await cluster.controlPlanes[0]?.restart();
    await rm(hold);
    const events = await turnEnded(client, sessionId, turnId);
    expect(factsOf(callEvents(events)).at(-1)).toBe("tool.completed");
    expect(await cluster.inspector.violations({ id: sessionId, kind: "session" }, true)).toStrictEqual([]);
  });
});

describe("a Python worker that reloads", () => {
  const tool = (name: string, answer: string) =>
    `from forge_client.worker import tool\n\n@tool(name="${name}", risk="read")\ndef answer() -> str:\n    """Answers."""\n    return "${answer}"\n`;

  async function answerOf(name: string): Promise<string> {
    const sessionId = await createSession(client, { agent: { tools: [name] } });
    const events = await turnEnded(client, sessionId, await startTurn(client, sessionId, useNamed(name, {})));
    return JSON.parse(lastOf(events, "toolCompleted").output?.kind.value as string) as string;
  }

  it("serves the file as it is now; where it can't be loaded it says where, and the version before goes on", async () => {
    const file = path.join(directory, "changing.py");
    await writeFile(file, tool("py.one", "first"));
    const worker = await PythonWorker.start({ ...server(), file, name: "changing", isReloading: true });
    others.push(worker);
    expect(await answerOf("py.one")).toBe("first");
    await writeFile(file, "from forge_client.worker import tool\n\ndef broken(:\n");
    await worker.said("changing.py:3");
    expect(await answerOf("py.one")).toBe("first");
    await writeFile(file, tool("py.one", "second"));
    await worker.said(" changing serves ", 1);
    expect(await answerOf("py.one")).toBe("second");
    expect(await worker.stop()).toBe(0);
  });
});

describe("other things that a Python worker serves", () => {
  it("are models, with their tool calls, and functions of a workflow", async () => {
    await servePython();
    const sessionId = await pythonSession({}, { model: "parrot/green" });
    const events = await turnEnded(client, sessionId, await startTurn(client, sessionId, "How warm is it?"));
    expect(factsOf(callEvents(events))).toStrictEqual(["tool.requested", "tool.completed"]);
    expect(lastOf(events, "turnCompleted").textPreview).toBe('It says "20 f"');
    expect(lastOf(events, "modelStarted").requestDigest).toMatch(/^[0-9a-f]{64}$/);
    expect(lastOf(events, "modelUsageRecorded").usage).toMatchObject({ inputTokens: 3n, outputTokens: 2n });
    const literal = (value: number) => ({ kind: { case: "literalJson" as const, value: JSON.stringify(value) } });
    const runId = await startRun(client, {
      id: "adding",
      version: "v1",
      onError: OnError.FAIL_FAST,
      steps: [{ id: "add", kind: { case: "function", value: { name: "py.add" } }, inputs: { a: literal(2), b: literal(3) } }],
    });
    const run = await runEnded(client, runId);
    expect(run.at(-1)?.kind).toBe("run.completed");
    expect(lastOf(run, "stepCompleted").output?.kind.value).toBe('{"sum":5}');
  });
});

describe("forge worker with a file of Python", () => {
  it("serves it, and takes it along when it is killed", async () => {
    const file = path.join(directory, "commanded.py");
    await writeFile(
      file,
      'from forge_client.worker import tool\n\n@tool(name="py.commanded", risk="read")\ndef commanded() -> str:\n    return "at your command"\n',
    );
    const worker = await PythonWorker.start({ ...server(), file, name: "commanded", isByCommand: true });
    others.push(worker);
    const sessionId = await createSession(client, { agent: { tools: ["py.commanded"] } });
    const events = await turnEnded(client, sessionId, await startTurn(client, sessionId, useNamed("py.commanded", {})));
    expect(lastOf(events, "toolCompleted").output?.kind.value).toBe('"at your command"');
    expect(await processesNaming(file)).not.toStrictEqual([]);
    await worker.kill();
    await until("everything has ended", async () => (await processesNaming(file)).length === 0);
  });
});

describe("a Python worker whose name another one takes", () => {
  it("ends, and says why", async () => {
    const options = { ...server(), file: TOOLS, name: "twice" };
    const first = await PythonWorker.start(options);
    others.push(first, await PythonWorker.start(options));
    expect(await first.exited()).toBe(4);
    expect(first.count("another worker has joined as twice")).toBeGreaterThan(0);
  });
});

describe("what TypeScript serves", () => {
  it("goes the same way, event for event, with a Python worker beside it and without", async () => {
    const turn = async (): Promise<readonly object[]> => {
      const sessionId = await createSession(client, { agent: { tools: ["test.append", "test.again"] } });
      const turnId = await startTurn(client, sessionId, useTool("test.append", {}));
      return comparable(await turnEnded(client, sessionId, turnId));
    };
    await killPython();
    const without = await turn();
    await servePython();
    expect(await turn()).toStrictEqual(without);
    expect(without.length).toBeGreaterThan(10);
  });
});

/** Events without what differs from one turn to the next: ids, each by the order in which it first occurs, times, and deltas, whose number depends on them. */
function comparable(events: readonly Event[]): readonly object[] {
  const ids = new Map<string, string>();
  const named = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `id ${ids.size}`);
    return ids.get(id) as string;
  };
  const facts = events.filter((event) => !event.kind.endsWith(".output_delta"));
  const text = JSON.stringify(facts, (key, value: unknown) => {
    if (key === "seq" || key.endsWith("Seq") || key.endsWith("At") || key.endsWith("Ms") || key.endsWith("Digest") || key.endsWith("Digests")) return undefined;
    return typeof value === "bigint" ? String(value) : value;
  });
  return JSON.parse(text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, named)) as object[];
}
