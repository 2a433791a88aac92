import { randomUUID } from "node:crypto";
import type pg from "pg";
import { measure } from "../load.ts";
import type { Round } from "../statistics.ts";

export async function createCommitTable(pool: pg.Pool): Promise<void> {
  await pool.query("create table public.bench_commit (round uuid not null, id bigint generated always as identity primary key)");
}

/** One small insert after the other: what a commit costs on this disk, the way to the server and back included. */
export async function measureCommits(pool: pg.Pool, count: number): Promise<Round> {
  const id = randomUUID();
  const round = await measure(1, { seconds: 60, countMax: count }, async () => {
    await pool.query({ name: "bench_commit", text: "insert into public.bench_commit (round) values ($1)", values: [id] });
  });
  const { rows } = await pool.query<{ count: number }>("select count(*)::int as count from public.bench_commit where round = $1", [id]);
  if (rows[0]?.count !== round.count) throw new Error(`${round.count} commits were acknowledged, and the database holds ${rows[0]?.count}`);
  return round;
}
