import type pg from "pg";
import type { Follower } from "../measurements/follow.ts";
import { comparedRow, valueRow } from "../report/compare.ts";
import type { Row, Section } from "../report/row.ts";
import type { Fleet } from "../server/fleet.ts";
import { quantile } from "../statistics.ts";
import { withinTime } from "../within-time.ts";
import { alternate } from "./alternate.ts";
import type { LoadScale } from "./scale.ts";
import { checkWrites, followSession, type Subject, subjectsOf, write } from "./subject.ts";

const MS_MAX = 60_000;
/** Events that each subscriber has missed when all come back. */
const MISSED = 10;

function note(subscribers: number): string {
  return (
    `${subscribers} subscribers; the bare server has the same rpc library in the same process, keeps its streams in memory and passes on what it is told. One writer: an event is written when the one before has come to all ` +
    "subscribers of its stream. As many writers: each stream has one, and one subscriber; all write at once, and again when all have received. Coming back: each subscriber opens a connection of its " +
    `own, all at once, with a cursor ${MISSED} events behind, until all have caught up. Writers and subscribers are in one process, which shares the cores with the server.`
  );
}

/** Waits for a number of events at all subscribers together. */
class Arrivals {
  #left = 0;
  #done: () => void = () => undefined;

  expect(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#left = count;
    this.#done = resolve;
    return promise;
  }

  readonly arrived = (): void => {
    if (--this.#left === 0) this.#done();
  };
}

async function whileFollowed<T>(followers: readonly Follower[], work: (broken: Promise<never>) => Promise<T>): Promise<T> {
  try {
    await withinTime(Promise.all(followers.map(({ caughtUp }) => caughtUp)), MS_MAX, "subscribing");
    return await work(Promise.race(followers.map(({ broken }) => broken)));
  } finally {
    for (const follower of followers) follower.close();
  }
}

/** One write after the other to a set of streams, each of which reaches all subscribers before the next. Milliseconds that each took. */
async function rounds(seconds: number, arrivals: Arrivals, expected: number, writeAll: () => Promise<unknown>, broken: Promise<never>): Promise<number[]> {
  const ms: number[] = [];
  const began = performance.now();
  while (performance.now() - began < seconds * 1000) {
    const at = performance.now();
    const all = arrivals.expect(expected);
    await Promise.race([withinTime(Promise.all([writeAll(), all]), MS_MAX, "a write to all"), broken]);
    ms.push(performance.now() - at);
  }
  return ms.toSorted((a, b) => a - b);
}

interface FanOut {
  readonly oneWriterMs: readonly number[];
  readonly allWritersMs: readonly number[];
  readonly stormMs: number;
}

async function fanOut(subject: Subject, pool: pg.Pool, { subscribers, seconds }: LoadScale): Promise<FanOut> {
  const { client } = subject;
  const sessions = await subject.open(subscribers);
  const [first] = sessions as [string];
  const arrivals = new Arrivals();
  const many = Array.from({ length: subscribers }, () => followSession(client, first, arrivals.arrived));
  const oneWriterMs = await whileFollowed(many, (broken) => rounds(seconds, arrivals, subscribers, () => write(client, first), broken));

  // What they receive of the past comes before they have caught up, when nothing is expected yet.
  const one = sessions.map((id) => followSession(client, id, arrivals.arrived));
  const writeAll = () => Promise.all(sessions.map((id) => write(client, id)));
  const allWritersMs = await whileFollowed(one, (broken) => rounds(seconds, arrivals, subscribers, writeAll, broken));

  for (let missed = 0; missed < MISSED; missed++) await writeAll();
  const clients = sessions.map(() => subject.connect());
  const heads = await Promise.all(sessions.map((id) => write(client, id)));
  const missed = arrivals.expect(subscribers * MISSED);
  const began = performance.now();
  const back = sessions.map((id, index) => followSession(clients[index] as Subject["client"], id, arrivals.arrived, (heads[index] as number) - MISSED));
  const stormMs = await whileFollowed(back, async () => {
    await missed;
    return performance.now() - began;
  });
  await Promise.all(clients.map((one) => one.close()));
  if (subject.name === "forge") await checkWrites(pool, sessions, oneWriterMs.length + subscribers * (allWritersMs.length + MISSED + 1));
  return { oneWriterMs, allWritersMs, stormMs };
}

export async function measureFanOut(fleet: Fleet, pool: pg.Pool, scale: LoadScale, progress: (text: string) => void): Promise<Section> {
  const subjects = subjectsOf(fleet);
  try {
    const { bare, forge } = await alternate(
      scale.rounds,
      { bare: () => fanOut(subjects.bare, pool, scale), forge: () => fanOut(subjects.forge, pool, scale) },
      progress,
    );
    const rate = (of: (one: FanOut) => readonly number[]) => (one: FanOut) => (of(one).length * scale.subscribers * 1000) / of(one).reduce((a, b) => a + b, 0);
    const compared = (name: string, unit: Row["unit"], of: (one: FanOut) => number): Row[] => [
      valueRow(`bare: ${name}`, unit, bare.map(of)),
      comparedRow(`Forge: ${name}`, unit, forge.map(of), { name: "bare", values: bare.map(of) }),
    ];
    return {
      title: "Fan-out",
      note: note(scale.subscribers),
      rows: [
        ...compared(
          "one writer: events received",
          "/s",
          rate(({ oneWriterMs }) => oneWriterMs),
        ),
        ...compared("one writer: at all subscribers, p50", "ms", ({ oneWriterMs }) => quantile(oneWriterMs, 0.5)),
        ...compared(
          "as many writers: events received",
          "/s",
          rate(({ allWritersMs }) => allWritersMs),
        ),
        ...compared("all come back: until all have caught up", "ms", ({ stormMs }) => stormMs),
      ],
    };
  } finally {
    await subjects.close();
  }
}
