import type pg from "pg";
import type { Section } from "../../report/row.ts";
import type { Scale } from "../../scale.ts";
import { median, quantile, spread } from "../../statistics.ts";
import { measureCommits } from "../commit.ts";
import type { AgentFleet } from "./agent-fleet.ts";
import { openAgentSession } from "./agent-session.ts";
import { checkCalls } from "./check-calls.ts";

const COMMITS = 3;
const BEYOND_MS = 10;
/** Whoever waits longer for it waits in vain. */
const WAIT_MS_MAX = 10_000;
const PIECES = ["The", " quick", " brown", " fox"];

const NOTE =
  "From just before the provider writes the first piece of its answer until a subscriber has it: it goes from the provider to the executor of models, is recorded by the control plane, and comes back over " +
  "Connect. Provider and subscriber are in another process than both. The provider writes the rest only then, so that nothing but the first piece can have brought it. The bound is of the same round's commits.";

async function measureOnce(fleet: AgentFleet): Promise<{ readonly sessionId: string; readonly ms: number }> {
  const session = await openAgentSession(fleet.client, []);
  const shown = Promise.withResolvers<void>();
  const timer = setTimeout(() => shown.reject(new Error(`the first piece was not shown within ${WAIT_MS_MAX} ms`)), WAIT_MS_MAX);
  fleet.provider.script([{ kind: "text", pieces: PIECES, afterFirst: () => shown.promise }]);
  const { events, firstTextMs } = await session.turn(() => shown.resolve()).finally(() => clearTimeout(timer));
  // What comes in the answer's last moment is told with its end alone.
  const streamed = events.flatMap(({ payload }) =>
    payload.case === "turnOutputDelta" && payload.value.channel.case === "text" ? [payload.value.channel.value] : [],
  );
  const answer = events.flatMap(({ payload }) =>
    payload.case === "modelCompleted" ? payload.value.parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : "")) : [],
  );
  const [exchange] = fleet.provider.exchanges;
  if (exchange === undefined || streamed[0] !== PIECES[0] || answer.join("") !== PIECES.join(""))
    throw new Error(`an answer was streamed as ${JSON.stringify(streamed)} and ended as ${JSON.stringify(answer)}`);
  return { sessionId: session.sessionId, ms: firstTextMs - exchange.firstPieceMs };
}

/** How long a piece of an answer is on its way to whoever watches. The table of commits must have been created. */
export async function measureFirstToken(fleet: AgentFleet, pool: pg.Pool, scale: Scale): Promise<Section> {
  const rounds: { readonly boundMs: number; readonly p50Ms: number; readonly p99Ms: number }[] = [];
  for (let index = 0; index <= scale.rounds; index++) {
    const commits = await measureCommits(pool, scale.repetitions);
    const seen: Awaited<ReturnType<typeof measureOnce>>[] = [];
    for (let turn = 0; turn < scale.repetitions; turn++) seen.push(await measureOnce(fleet));
    await checkCalls(pool, { sessionIds: seen.map(({ sessionId }) => sessionId), modelCalls: seen.length, toolCalls: 0 });
    const ascending = seen.map(({ ms }) => ms).toSorted((a, b) => a - b);
    if (index === 0) continue;
    rounds.push({ boundMs: COMMITS * quantile(commits.latenciesMs, 0.99) + BEYOND_MS, p50Ms: quantile(ascending, 0.5), p99Ms: quantile(ascending, 0.99) });
  }
  const ratio = median(rounds.map(({ p99Ms, boundMs }) => p99Ms / boundMs));
  return {
    title: "The first token",
    note: NOTE,
    rows: [
      { name: `${COMMITS} commits' p99 and ${BEYOND_MS} ms`, unit: "ms", value: spread(rounds.map(({ boundMs }) => boundMs)) },
      { name: "first token at a subscriber: p50", unit: "ms", value: spread(rounds.map(({ p50Ms }) => p50Ms)) },
      {
        name: "first token at a subscriber: p99",
        unit: "ms",
        value: spread(rounds.map(({ p99Ms }) => p99Ms)),
        ratio: { value: ratio, to: "the bound" },
        target: { text: `at most ${COMMITS} commits' p99 and ${BEYOND_MS} ms`, isMet: ratio <= 1 },
      },
    ],
  };
}
