import { setTimeout as delay } from "node:timers/promises";
import { comparedRow, valueRow } from "../report/compare.ts";
import type { Row } from "../report/row.ts";
import type { Fleet } from "../server/fleet.ts";
import { alternate } from "./alternate.ts";
import type { LoadScale } from "./scale.ts";
import { followSession, type Subject } from "./subject.ts";

/** Until a server has noticed what was opened or closed. */
const SETTLE_MS = 1_000;
const CORE_PERCENT_MAX = 1;
const MEMORY_RATIO_MAX = 1.5;

interface Idle {
  readonly bytes: number;
  readonly corePercent: number;
}

/** Of the process of both servers. */
async function corePercent(fleet: Fleet, seconds: number): Promise<number> {
  const before = (await fleet.writes()).cpuUs;
  await delay(seconds * 1000);
  return ((await fleet.writes()).cpuUs - before) / (seconds * 10_000);
}

/** What the process holds because of subscriptions to which nothing comes, and uses while they are there. */
async function idle(fleet: Fleet, subject: Subject, { subscribers, idleSeconds }: LoadScale): Promise<Idle> {
  const streams = await subject.open(subscribers);
  await delay(SETTLE_MS);
  const bytesBefore = (await fleet.memory()).bytes;
  const followers = streams.map((id) => followSession(subject.client, id, () => undefined));
  try {
    await Promise.all(followers.map(({ caughtUp }) => caughtUp));
    await delay(SETTLE_MS);
    const used = await corePercent(fleet, idleSeconds);
    return { bytes: ((await fleet.memory()).bytes - bytesBefore) / subscribers, corePercent: used };
  } finally {
    for (const follower of followers) follower.close();
  }
}

export async function idleSubscriptionRows(
  fleet: Fleet,
  { forge, bare }: { readonly forge: Subject; readonly bare: Subject },
  scale: LoadScale,
  progress: (text: string) => void,
): Promise<Row[]> {
  await delay(SETTLE_MS);
  const without = await corePercent(fleet, scale.idleSeconds);
  const taken = await alternate(Math.min(scale.rounds, 2), { bare: () => idle(fleet, bare, scale), forge: () => idle(fleet, forge, scale) }, progress);
  const bytes = ({ bytes }: Idle): number => bytes;
  return [
    valueRow("bare: an idle stream's memory", "bytes", taken.bare.map(bytes)),
    comparedRow(
      "Forge: an idle subscription's memory",
      "bytes",
      taken.forge.map(bytes),
      { name: "bare", values: taken.bare.map(bytes) },
      { most: MEMORY_RATIO_MAX },
    ),
    valueRow(
      `bare: ${scale.subscribers} idle streams`,
      "% of a core",
      taken.bare.map(({ corePercent: used }) => used - without),
    ),
    valueRow(
      `Forge: ${scale.subscribers} idle subscriptions`,
      "% of a core",
      taken.forge.map(({ corePercent: used }) => used - without),
      { most: CORE_PERCENT_MAX },
    ),
  ];
}
