import type { BenchDatabase } from "../database.ts";
import type { Section } from "../report/row.ts";
import type { Fleet } from "../server/fleet.ts";
import { idleSubscriptionRows } from "./idle-subscriptions.ts";
import { longStreamRows } from "./long-stream.ts";
import { oneStreamRows } from "./one-stream.ts";
import type { LoadScale } from "./scale.ts";
import { subjectsOf } from "./subject.ts";

const NOTE =
  "One subscriber, to whose stream a worker writes 10,000 pieces of output a second, a hundred in a call, beside the same calls to the bare server; all are found in the database. Two sessions of equal state, one behind many " +
  "events, loaded in turns by a control plane in the measuring process that keeps one stream in memory; and a subscription at the head of each until it has caught up. Idle subscriptions on one connection: what the server's " +
  "process holds after a collection, and its processor time, both without what it holds and uses anyway.";

export async function measureSubscriber(
  fleet: Fleet,
  { connection, pool }: BenchDatabase,
  scale: LoadScale,
  progress: (text: string) => void,
): Promise<Section> {
  const subjects = subjectsOf(fleet);
  try {
    return {
      title: "One subscriber, and idle ones",
      note: NOTE,
      rows: [
        ...(await oneStreamRows(fleet, pool, subjects, scale)),
        ...(await longStreamRows(connection, pool, scale, progress)),
        ...(await idleSubscriptionRows(fleet, subjects, scale, progress)),
      ],
    };
  } finally {
    await subjects.close();
  }
}
