import { setTimeout as delay } from "node:timers/promises";
import type { ForgeClient } from "@forge/client";
import type { Event } from "@forge/protocol/event";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { createRandom, type Random } from "../harness/random.ts";
import type { CallArguments } from "../harness/test-handlers.ts";
import { createSession, runEnded, startRun, startTurn, threeSteps, turnEnded, useTool, wide } from "../harness/work.ts";

/** Runs the same kills again. */
const SEED = Number(process.env["FORGE_SEED"] ?? Date.now() % 2 ** 31);
const ROUNDS = 9;
const TURNS_PER_ROUND = 16;
const RUNS_PER_ROUND = 8;
const KILLS_PER_ROUND = 2;
/** In which the work of a round begins, and in which something is killed. */
const ROUND_MS = 1_500;

type Victim = "control plane" | "executor" | "database";
const VICTIMS: readonly Victim[] = ["control plane", "executor", "database"];

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ controlPlanes: 2, executors: 2 });
});
afterAll(() => cluster?.close());

async function kill(victim: Victim, which: number): Promise<void> {
  if (victim === "control plane") await cluster.controlPlanes[which]?.restart();
  else if (victim === "executor") await cluster.executors[which]?.restart();
  else await cluster.database.crash();
}

function callArguments(random: Random): CallArguments {
  return { delays: { "before-start": random.between(0, 80), "before-effect": random.between(0, 80), "after-effect": random.between(0, 80) } };
}

async function oneTurn(client: ForgeClient, text: string): Promise<void> {
  const sessionId = await createSession(client);
  const turnId = await startTurn(client, sessionId, text);
  await turnEnded(client, sessionId, turnId);
}

async function oneRun(client: ForgeClient, definition: ReturnType<typeof threeSteps>): Promise<void> {
  const runId = await startRun(client, definition);
  await runEnded(client, runId);
}

interface Tally {
  completed: number;
  failed: number;
  unknown: number;
  unknownWithEffect: number;
}

/** Holds what is promised of effects against what was written down; counts what happened to the calls whose effect must not happen twice. */
function judge(events: readonly Event[], effects: ReadonlyMap<string, number>, tally: Tally): void {
  for (const request of events) {
    const { payload, toolCallId } = request;
    if (payload.case !== "toolRequested") continue;
    const own = events.filter((event) => event.toolCallId === toolCallId);
    const kinds = own.map((event) => event.kind);
    const started = kinds.filter((kind) => kind === "tool.started").length;
    const effect = effects.get(toolCallId) ?? 0;
    const history = `${payload.value.tool} ${toolCallId}: ${kinds.join(", ")}; ${effect} effects`;
    if (payload.value.tool === "test.again") {
      if (kinds.includes("tool.completed")) expect(effect, history).toBeGreaterThanOrEqual(1);
      continue;
    }
    expect(started, history).toBeLessThanOrEqual(1);
    expect(effect, history).toBeLessThanOrEqual(1);
    if (kinds.includes("tool.completed")) {
      tally.completed++;
      expect(effect, history).toBe(1);
    } else if (kinds.includes("tool.settled_unknown")) {
      tally.unknown++;
      tally.unknownWithEffect += effect;
      expect(started, history).toBe(1);
    } else {
      // Its workers were lost before it began, again and again.
      tally.failed++;
      expect([started, effect], history).toStrictEqual([0, 0]);
    }
  }
  for (const event of events) {
    if (event.kind === "step.completed" && event.stepId === "note")
      expect(effects.get(`${event.runId}/note/0`), `function of run ${event.runId}`).toBeGreaterThanOrEqual(1);
    if (event.payload.case !== "runFailed") continue;
    const reason = event.payload.value.error?.reason;
    const unknown = events.some((other) => other.kind === "tool.settled_unknown");
    if (unknown) expect(reason, `run ${event.runId}`).toBe("UNKNOWN_EFFECT");
  }
}

it("ends every run and turn once, with every effect as often as promised, whatever is killed at whatever moment", async () => {
  console.log(`seed ${SEED}`);
  const random = createRandom(SEED);
  const judged = new Set<string>();
  const tally: Tally = { completed: 0, failed: 0, unknown: 0, unknownWithEffect: 0 };
  const killed: Victim[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const beginsAt = () => delay(random.between(0, ROUND_MS));
    const work: Promise<void>[] = [];
    for (let index = 0; index < TURNS_PER_ROUND; index++) {
      const text = useTool(index % 4 === 3 ? "test.again" : "test.append", callArguments(random));
      work.push(beginsAt().then(() => oneTurn(cluster.clients[index % 2] as ForgeClient, text)));
    }
    for (let index = 0; index < RUNS_PER_ROUND; index++) {
      const args = callArguments(random);
      const definition = index % 4 === 3 ? wide(args) : threeSteps(args);
      work.push(beginsAt().then(() => oneRun(cluster.clients[index % 2] as ForgeClient, definition)));
    }
    const done = Promise.all(work);
    // Its rejection is awaited below, after the kills.
    done.catch(() => undefined);
    for (let index = 0; index < KILLS_PER_ROUND; index++) {
      await delay(random.between(100, ROUND_MS / KILLS_PER_ROUND));
      const victim = VICTIMS[(round * KILLS_PER_ROUND + index) % VICTIMS.length] as Victim;
      killed.push(victim);
      await kill(victim, random.between(0, 2));
      for (const stream of await cluster.inspector.streams())
        if (!judged.has(stream.id)) expect(await cluster.inspector.violations(stream, false)).toStrictEqual([]);
    }
    await done;
    const effects = await cluster.effects();
    for (const stream of await cluster.inspector.streams()) {
      if (judged.has(stream.id)) continue;
      judged.add(stream.id);
      expect(await cluster.inspector.violations(stream, true)).toStrictEqual([]);
      judge(await cluster.inspector.events(stream.id), effects, tally);
    }
  }
  console.log(
    `${ROUNDS * TURNS_PER_ROUND} turns and ${ROUNDS * RUNS_PER_ROUND} runs; killed ${killed.join(", ")}; calls of test.append: ${JSON.stringify(tally)}`,
  );
  // Some of it was ordinary work, or the rest would say nothing.
  expect(tally.completed).toBeGreaterThan(ROUNDS);
});
