import { stat } from "node:fs/promises";
import path from "node:path";
import type pg from "pg";
import type { Row, Section } from "../../report/row.ts";
import type { Scale } from "../../scale.ts";
import { difference } from "../../server/counting-store.ts";
import { median, quantile, spread } from "../../statistics.ts";
import { createBareClient } from "../bare.ts";
import { measureCommits } from "../commit.ts";
import type { AgentFleet } from "./agent-fleet.ts";
import { openAgentSession } from "./agent-session.ts";
import { ADDED_FILE, EFFECT_TOOL, IDEMPOTENT_TOOL, toolTimes } from "./bench-tools.ts";
import { checkCalls } from "./check-calls.ts";
import { callGaps, commitsPerCall, roundGaps } from "./loop-gaps.ts";
import type { ScriptedAnswer } from "./scripted-provider.ts";

/** Calls of a tool in a turn that has any. */
const CALLS = 10;
const RATIO_MAX = 1.5;
/** The request to the provider, and its answer. */
const MODEL_ROUND_TRIPS = 1;
/** The process of the tools is told of the call, and tells its result; of one with an effect it also tells the start, and waits until that is recorded. */
const TOOL_ROUND_TRIPS = { [IDEMPOTENT_TOOL]: 1, [EFFECT_TOOL]: 2 } as const;

const NOTE =
  "The control plane and the executor of models in one process, the tools in another one that calls over Connect, as in `forge up`; a provider of OpenAI's wire format and the client in a " +
  `third. The provider answers as soon as it is asked, and its time is not counted, nor is the tools' own. A tool call is from the end of one call in the tool to the beginning of the next, in turns of ${CALLS} calls in ` +
  `one answer, made in order. A model call is from the end of an answer with one call to the next request at the provider, in turns of ${CALLS} such answers, without the time in the tool and without one tool call. Commits are counted ` +
  "at the store in whole turns, those beside the way included, such as streamed output; a model call is what turns of many rounds have more. It needs one round trip, to the provider; " +
  "a tool call one, the call there and the result back, and one with an effect a second, by which its start is recorded before it may happen.";

const DONE: ScriptedAnswer = { kind: "text", pieces: ["Done."] };
type Tool = keyof typeof TOOL_ROUND_TRIPS;

interface Turns {
  /** Of each turn. */
  readonly commits: number;
  readonly gapsMs: readonly number[];
}

/** Turns one after the other, each in a session of its own, and what lies between their calls or rounds. */
async function measureTurns(fleet: AgentFleet, pool: pg.Pool, tool: Tool, answers: readonly ScriptedAnswer[], turns: number): Promise<Turns> {
  const sessions = await Promise.all(Array.from({ length: turns }, () => openAgentSession(fleet.client, [tool])));
  const calls = answers.reduce((sum, answer) => sum + (answer.kind === "calls" ? answer.count : 0), 0);
  const added = await bytesOf(path.join(fleet.project, ADDED_FILE));
  const gapsMs: number[] = [];
  const before = await fleet.writes();
  for (const session of sessions) {
    fleet.provider.script(answers);
    const { events } = await session.turn();
    const times = toolTimes(events);
    const { exchanges } = fleet.provider;
    if (exchanges.length !== answers.length || times.length !== calls)
      throw new Error(`a turn of ${answers.length} answers and ${calls} calls had ${exchanges.length} and ${times.length}`);
    gapsMs.push(...(answers.length > 2 ? roundGaps(exchanges, times) : callGaps(times)));
  }
  const { appendCommits, otherCommits } = difference(await fleet.writes(), before);
  await checkCalls(pool, {
    sessionIds: sessions.map(({ sessionId }) => sessionId),
    modelCalls: answers.length * turns,
    toolCalls: calls * turns,
  });
  const happened = (await bytesOf(path.join(fleet.project, ADDED_FILE))) - added;
  if (tool === EFFECT_TOOL && happened !== calls * turns) throw new Error(`${calls * turns} calls were to add a byte, and ${happened} were added`);
  return { commits: (appendCommits + otherCommits) / turns, gapsMs };
}

interface Measured {
  readonly commits: number;
  readonly sumMs: number;
  readonly p50Ms: number;
}

interface Round {
  readonly commitMs: number;
  readonly roundTripMs: number;
  readonly model: Measured;
  readonly tools: Readonly<Record<Tool, Measured>>;
}

async function measureTool(fleet: AgentFleet, pool: pg.Pool, tool: Tool, turns: number) {
  const inRounds = [...Array.from({ length: CALLS }, (): ScriptedAnswer => ({ kind: "calls", tool, count: 1 })), DONE];
  const plain = await measureTurns(fleet, pool, tool, [DONE], turns);
  const rounds = await measureTurns(fleet, pool, tool, inRounds, turns);
  const calls = await measureTurns(fleet, pool, tool, [{ kind: "calls", tool, count: CALLS }, DONE], turns);
  const commits = commitsPerCall({ plain: plain.commits, rounds: rounds.commits, calls: calls.commits }, CALLS);
  return { commits, callMs: median(calls.gapsMs), modelMs: median(rounds.gapsMs) - median(calls.gapsMs) };
}

async function measureRound(fleet: AgentFleet, pool: pg.Pool, bare: ReturnType<typeof createBareClient>, scale: Scale): Promise<Round> {
  const turns = Math.ceil(scale.repetitions / CALLS);
  const commitMs = quantile((await measureCommits(pool, scale.repetitions)).latenciesMs, 0.5);
  const roundTripMs = quantile((await bare.unary(scale.repetitions)).latenciesMs, 0.5);
  const put = await measureTool(fleet, pool, IDEMPOTENT_TOOL, turns);
  const add = await measureTool(fleet, pool, EFFECT_TOOL, turns);
  const of = (commits: number, roundTrips: number, p50Ms: number): Measured => ({ commits, sumMs: commits * commitMs + roundTrips * roundTripMs, p50Ms });
  return {
    commitMs,
    roundTripMs,
    model: of(put.commits.model, MODEL_ROUND_TRIPS, put.modelMs),
    tools: {
      [IDEMPOTENT_TOOL]: of(put.commits.tool, TOOL_ROUND_TRIPS[IDEMPOTENT_TOOL], put.callMs),
      [EFFECT_TOOL]: of(add.commits.tool, TOOL_ROUND_TRIPS[EFFECT_TOOL], add.callMs),
    },
  };
}

function rowsOf(name: string, measured: readonly Measured[]): Row[] {
  const ratio = median(measured.map(({ p50Ms, sumMs }) => p50Ms / sumMs));
  return [
    { name: `commits of a ${name}`, unit: "commits", value: spread(measured.map(({ commits }) => commits)) },
    { name: `sum of a ${name}'s commits and round trips`, unit: "ms", value: spread(measured.map(({ sumMs }) => sumMs)) },
    {
      name: `${name}: p50`,
      unit: "ms",
      value: spread(measured.map(({ p50Ms }) => p50Ms)),
      ratio: { value: ratio, to: "the sum" },
      target: { text: `at most ${RATIO_MAX} of the sum`, isMet: ratio <= RATIO_MAX },
    },
  ];
}

/** What the loop costs beside the provider and the tools. The table of commits must have been created. */
export async function measureLoopOverhead(fleet: AgentFleet, pool: pg.Pool, scale: Scale): Promise<Section> {
  const bare = createBareClient(fleet.bareUrl);
  const rounds: Round[] = [];
  try {
    for (let index = 0; index <= scale.rounds; index++) {
      const round = await measureRound(fleet, pool, bare, scale);
      // The first is for warming up.
      if (index > 0) rounds.push(round);
    }
  } finally {
    bare.close();
  }
  return {
    title: "The loop beside provider and tools",
    note: NOTE,
    rows: [
      { name: "one commit: p50", unit: "ms", value: spread(rounds.map(({ commitMs }) => commitMs)) },
      { name: "one bare Connect round trip: p50", unit: "ms", value: spread(rounds.map(({ roundTripMs }) => roundTripMs)) },
      ...rowsOf(
        "model call",
        rounds.map(({ model }) => model),
      ),
      ...rowsOf(
        "tool call, idempotent",
        rounds.map(({ tools }) => tools[IDEMPOTENT_TOOL]),
      ),
      ...rowsOf(
        "tool call with an effect",
        rounds.map(({ tools }) => tools[EFFECT_TOOL]),
      ),
    ],
  };
}

async function bytesOf(file: string): Promise<number> {
  // Before the first call it is not there.
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}
