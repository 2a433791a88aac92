import { setTimeout as delay } from "node:timers/promises";
import type { ForgeClient } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type pg from "pg";
import type { Follower } from "../measurements/follow.ts";
import { comparedRow, valueRow } from "../report/compare.ts";
import type { Row } from "../report/row.ts";
import type { Fleet } from "../server/fleet.ts";
import { quantile } from "../statistics.ts";
import { withinTime } from "../within-time.ts";
import { type OutputWriter, openBareWriter, openOutputWriter } from "./output-writer.ts";
import type { LoadScale } from "./scale.ts";
import { followSession, type Subject } from "./subject.ts";

const RATE = 10_000;
const BATCH = 100;
const INTERVAL_MS = (1000 * BATCH) / RATE;
/** Calls at once: who does not keep up is written to more slowly, and the rate says so. */
const CALLS_MAX = 8;
const WARM_UP_SECONDS = 3;
const END_MS_MAX = 30_000;
/** What a subscriber that is never behind may lack of what has been acknowledged: a tenth of a second. */
const BEHIND_MAX = RATE / 10;

interface Steady {
  /** Acknowledged, in a second. */
  readonly rate: number;
  /** From the call that writes an event until its subscriber has it, in ascending order. */
  readonly lagMs: readonly number[];
  /** Acknowledged events that the subscriber did not have, at most. */
  readonly behind: number;
  readonly endedAsSlow: number;
  readonly written: number;
  /** Of the last event. */
  readonly seq: number;
}

/** Follows a stream, and again from where it was where the server has ended it as too slow; anything else fails the measurement. */
class Reader {
  readonly #client: ForgeClient;
  readonly #streamId: string;
  readonly #onEvent: () => void;
  #follower: Follower | undefined;
  seq: number;
  endedAsSlow = 0;
  readonly failed = Promise.withResolvers<never>();

  constructor(client: ForgeClient, streamId: string, seq: number, onEvent: () => void) {
    this.seq = seq;
    this.#client = client;
    this.#streamId = streamId;
    this.#onEvent = onEvent;
    this.failed.promise.catch(() => undefined); // Whoever waits for it gets it.
  }

  async open(): Promise<void> {
    this.#follower = followSession(
      this.#client,
      this.#streamId,
      ({ seq, kind }) => {
        this.seq = Number(seq);
        if (kind === "turn.output_delta") this.#onEvent();
      },
      this.seq,
    );
    this.#follower.broken
      .catch(async (error: unknown) => {
        if (!(error instanceof ForgeError) || error.code !== ErrorCode.RESOURCE_EXHAUSTED) throw error;
        this.endedAsSlow++;
        await this.open();
      })
      .catch(this.failed.reject);
    await this.#follower.caughtUp;
  }

  close(): void {
    this.#follower?.close();
  }
}

async function steady(client: ForgeClient, writer: OutputWriter, seconds: number, afterSeq = 0): Promise<Steady> {
  const sentAtMs: number[] = [];
  const lagMs: number[] = [];
  let [received, acknowledged, behind] = [0, 0, 0];
  const all = Promise.withResolvers<void>();
  const total = Math.round((seconds * 1000) / INTERVAL_MS) * BATCH;
  const reader = new Reader(client, writer.streamId, afterSeq, () => {
    lagMs.push(performance.now() - (sentAtMs[Math.floor(received / BATCH)] as number));
    if (++received === total) all.resolve();
  });
  await reader.open();
  const open = new Set<Promise<void>>();
  const began = performance.now();
  for (let call = 0; call * BATCH < total; call++) {
    const restMs = began + call * INTERVAL_MS - performance.now();
    if (restMs > 0) await delay(restMs);
    if (open.size >= CALLS_MAX) await Promise.race(open);
    sentAtMs.push(performance.now());
    const writing = writer.write(BATCH).then(() => {
      acknowledged += BATCH;
      behind = Math.max(behind, acknowledged - received);
      open.delete(writing);
    });
    open.add(writing);
  }
  await Promise.all(open);
  const rate = (total / (performance.now() - began)) * 1000;
  await Promise.race([withinTime(all.promise, END_MS_MAX, "the last of the events"), reader.failed.promise]);
  reader.close();
  return { rate, lagMs: lagMs.toSorted((a, b) => a - b), behind, endedAsSlow: reader.endedAsSlow, written: total, seq: reader.seq };
}

async function checkOutput(pool: pg.Pool, streamId: string, written: number): Promise<void> {
  const { rows } = await pool.query<{ count: number }>("select count(*)::int as count from forge.delta where stream_id = $1", [streamId]);
  if (rows[0]?.count !== written) throw new Error(`${written} pieces of output were acknowledged, and the database holds ${rows[0]?.count}`);
}

/** The bare stream before and after, each for a quarter of the time. */
export async function oneStreamRows(
  fleet: Fleet,
  pool: pg.Pool,
  { forge, bare }: { readonly forge: Subject; readonly bare: Subject },
  { steadySeconds }: LoadScale,
): Promise<Row[]> {
  const writer = await openOutputWriter(fleet);
  try {
    // Code is slow until it has been compiled.
    const warmUp = await steady(forge.client, writer, WARM_UP_SECONDS);
    const ceiling = async () => await steady(bare.client, await openBareWriter(bare), steadySeconds / 4);
    const before = await ceiling();
    const measured = await steady(forge.client, writer, steadySeconds, warmUp.seq);
    const ceilings = [before, await ceiling()];
    await checkOutput(pool, writer.streamId, warmUp.written + measured.written);
    const lags = (share: number): Row[] => {
      const of = ({ lagMs }: Steady): number => quantile(lagMs, share);
      const name = `lag, ${share === 1 ? "most" : `p${share * 100}`}`;
      return [
        valueRow(`bare: ${name}`, "ms", ceilings.map(of)),
        comparedRow(`Forge: ${name}`, "ms", [of(measured), of(measured)], { name: "bare", values: ceilings.map(of) }),
      ];
    };
    return [
      valueRow(
        "bare: events written",
        "/s",
        ceilings.map(({ rate }) => rate),
      ),
      valueRow("Forge: events written", "/s", [measured.rate], { least: 0.99 * RATE }),
      ...lags(0.5),
      ...lags(0.99),
      ...lags(1),
      valueRow("Forge: acknowledged events that the subscriber lacked, most", "events", [measured.behind], { most: BEHIND_MAX }),
      valueRow("Forge: ended as too slow", "times", [measured.endedAsSlow], { most: 0 }),
    ];
  } finally {
    await writer.close();
  }
}
