import path from "node:path";
import { type ConnectClient, commandHeader, withRetry } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import type { Event } from "@forge/protocol/event";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { linesOf } from "../harness/lines.ts";
import { processesNaming } from "../harness/processes.ts";
import type { Service } from "../harness/service.ts";
import {
  createSession,
  eventsUntil,
  kindsOf,
  runEnded,
  runStream,
  sessionStream,
  startRun,
  startTurn,
  threeSteps,
  turnEnded,
  until,
  useTool,
  wide,
} from "../harness/work.ts";

let cluster: Cluster;
let client: ConnectClient;
beforeAll(async () => {
  cluster = await startCluster();
  client = cluster.client;
});
afterAll(() => cluster?.close());

const RUN_ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);
const TURN_ENDS: ReadonlySet<string> = new Set(["turn.completed", "turn.failed", "turn.cancelled", "turn.abandoned"]);

/** True where the command was taken; false where the turn had ended before it came. */
async function cancel(sessionId: string, turnId: string): Promise<boolean> {
  const request = { header: commandHeader(), sessionId, turnId };
  try {
    await withRetry(() => client.session.cancelTurn(request));
    return true;
  } catch (error) {
    if (error instanceof ForgeError && error.reason === "TURN_NOT_ACTIVE") return false;
    throw error;
  }
}

/** What the turn began in the world has an end on record, and the task table holds nothing of it. */
async function expectNothingLeft(sessionId: string): Promise<void> {
  expect(await cluster.inspector.violations({ id: sessionId, kind: "session" }, true)).toStrictEqual([]);
  expect(await cluster.store.tasksOf("default", sessionId)).toStrictEqual([]);
  const session = (await client.session.getSessionSnapshot({ sessionId })).session;
  expect(session?.turn?.openCalls).toStrictEqual([]);
}

describe("a turn that is cancelled", () => {
  it("after any of its events ends once, with nothing of it left", async () => {
    // Wide enough that a cancel fits between any two events.
    const text = useTool("test.append", { pieces: 2, delays: { "before-start": 20, "before-effect": 20, "after-effect": 20 } });
    const model = await createSession(client);
    const reference = await turnEnded(client, model, await startTurn(client, model, text));
    const indexes = reference.length - 1;
    expect(indexes).toBeGreaterThan(14);
    const taken = await Promise.all(
      Array.from({ length: indexes }, async (_, index) => {
        const sessionId = await createSession(client);
        const turnId = await startTurn(client, sessionId, text);
        await eventsUntil(client, sessionStream(sessionId), (event) => Number(event.seq) > index || TURN_ENDS.has(event.kind));
        const wasTaken = await cancel(sessionId, turnId);
        const events = await turnEnded(client, sessionId, turnId);
        const end = events.at(-1)?.kind;
        expect(end, `cancelled after event ${index}`).toBe(wasTaken ? "turn.cancelled" : "turn.completed");
        await expectNothingLeft(sessionId);
        return wasTaken;
      }),
    );
    expect(taken.filter(Boolean).length).toBeGreaterThan(indexes / 2);
  });

  it("while its call waits for its start never has its effect", async () => {
    const sessionId = await createSession(client);
    const turnId = await startTurn(client, sessionId, useTool("test.append", { hold: "before-start" }));
    const callId = await (cluster.executors[0] as Service).heldAt("before-start");
    await cancel(sessionId, turnId);
    const events = await turnEnded(client, sessionId, turnId);
    expect(kindsOf(events.filter((event) => event.toolCallId === callId))).toStrictEqual(["tool.requested", "tool.cancelled"]);
    expect((await cluster.effects()).get(callId)).toBeUndefined();
    await expectNothingLeft(sessionId);
  });

  it("while nobody is there to do its work ends all the same", async () => {
    const sessionId = await createSession(client);
    await cluster.executors[0]?.kill();
    try {
      const turnId = await startTurn(client, sessionId, "hello");
      await cancel(sessionId, turnId);
      expect((await turnEnded(client, sessionId, turnId)).at(-1)?.kind).toBe("turn.cancelled");
      await expectNothingLeft(sessionId);
    } finally {
      await cluster.executors[0]?.start();
    }
  });

  it("while the control plane is killed right after it took the request ends once", async () => {
    const sessionId = await createSession(client);
    const turnId = await startTurn(client, sessionId, "count to 1000");
    await eventsUntil(client, sessionStream(sessionId), (event) => event.kind === "turn.output_delta");
    await cancel(sessionId, turnId);
    await cluster.controlPlanes[0]?.restart();
    expect((await turnEnded(client, sessionId, turnId)).filter((event) => TURN_ENDS.has(event.kind))).toHaveLength(1);
    await expectNothingLeft(sessionId);
  });
});

describe("a run that is cancelled", () => {
  it.for(["note", "append", "say"])("in its step %s ends once, and so does what it began", async (step) => {
    const definition = threeSteps({ pieces: 5, delays: { "before-effect": 100, "after-effect": 100 } });
    const runId = await startRun(client, definition);
    await eventsUntil(client, runStream(runId), (event) => event.kind === "step.started" && event.stepId === step);
    const request = { header: commandHeader(), runId };
    const taken = await client.workflow.cancelRun(request).then(
      () => true,
      (error: unknown) => {
        if (error instanceof ForgeError && error.reason === "RUN_ENDED") return false;
        throw error;
      },
    );
    const events = await runEnded(client, runId);
    // An agent that only echoes may be done before it hears of the cancel: then the run has stopped after it.
    if (taken) expect(events.at(-1)?.kind).toBe("run.cancelled");
    expect(await cluster.inspector.violations({ id: runId, kind: "run" }, true)).toStrictEqual([]);
    // A cancel that came to its session too late is still on its way back.
    await until("the run wants nothing any more", async () => (await cluster.store.tasksOf("default", runId)).length === 0);
    const child = events.find((event) => event.payload.case === "stepStarted" && event.payload.value.sessionId !== "");
    const childId = child?.payload.case === "stepStarted" ? child.payload.value.sessionId : "";
    if (childId !== "") await until("the session's turn has ended", async () => (await sessionTurnEnds(childId)).length === 1);
    if (childId !== "") await expectNothingLeft(childId);
  });

  it("after any of its events, with much of it under way, ends once, with nothing of it left", async () => {
    const definition = wide({ delays: { "before-effect": 30, "after-effect": 30 } });
    const reference = await runEnded(client, await startRun(client, definition));
    expect(reference.at(-1)?.kind).toBe("run.completed");
    const taken = await Promise.all(
      Array.from({ length: reference.length - 1 }, async (_, index) => {
        const runId = await startRun(client, definition);
        await eventsUntil(client, runStream(runId), (event) => Number(event.seq) > index || RUN_ENDS.has(event.kind));
        const wasTaken = await client.workflow.cancelRun({ header: commandHeader(), runId }).then(
          () => true,
          (error: unknown) => {
            if (error instanceof ForgeError && error.reason === "RUN_ENDED") return false;
            throw error;
          },
        );
        const events = await runEnded(client, runId);
        expect(events.at(-1)?.kind, `cancelled after event ${index}`).toBe(wasTaken ? "run.cancelled" : "run.completed");
        expect(await cluster.inspector.violations({ id: runId, kind: "run" }, true)).toStrictEqual([]);
        await until("the run wants nothing any more", async () => (await cluster.store.tasksOf("default", runId)).length === 0);
        const inner = events.find((event) => event.payload.case === "stepStarted" && event.payload.value.childRunId !== "");
        const innerId = inner?.payload.case === "stepStarted" ? inner.payload.value.childRunId : "";
        if (innerId !== "") expect(RUN_ENDS.has((await cluster.inspector.events(innerId)).at(-1)?.kind ?? "")).toBe(true);
        return wasTaken;
      }),
    );
    expect(taken.filter(Boolean).length).toBeGreaterThan(taken.length / 2);
  });

  async function sessionTurnEnds(sessionId: string): Promise<readonly Event[]> {
    return (await cluster.inspector.events(sessionId)).filter((event) => TURN_ENDS.has(event.kind));
  }
});

describe("a shell command that does not want to end", () => {
  it.for([
    ["ignores SIGTERM", (mark: string, file: string) => `(trap '' TERM; echo $BASHPID >> ${file}; exec -a ${mark} sleep 300) & echo $$ >> ${file}; wait`],
    [
      "has left its session with setsid",
      (mark: string, file: string) => `setsid bash -c 'trap "" TERM; echo $$ >> ${file}; exec -a ${mark} sleep 300' & echo $$ >> ${file}; wait`,
    ],
  ] as const)("because a child %s is gone before the turn is cancelled", async ([, command]) => {
    const mark = `forge-test-${Math.random().toString(36).slice(2)}`;
    const file = `${mark}.pids`;
    const sessionId = await createSession(client);
    const turnId = await startTurn(client, sessionId, useTool("tools.shell", { command: `exec bash -c '${command(mark, file).replaceAll("'", "'\\''")}'` }));
    await until(
      "both processes run",
      async () => (await linesOf(path.join(cluster.workspace, file))).length === 2 && (await processesNaming(mark)).length >= 2,
    );
    await cancel(sessionId, turnId);
    const events = await turnEnded(client, sessionId, turnId);
    // Looked for as soon as the end is on record.
    expect(await processesNaming(mark)).toStrictEqual([]);
    expect(events.at(-1)?.kind).toBe("turn.cancelled");
    await expectNothingLeft(sessionId);
  });
});
