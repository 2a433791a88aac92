import type pg from "pg";

/** A turn that was counted must have ended once, in the database. */
export async function checkTurns(pool: pg.Pool, sessionIds: readonly string[], expected: number): Promise<void> {
  const { rows } = await pool.query<{ completed: number; ended: number }>(
    `select count(*) filter (where kind = 'turn.completed')::int as completed, count(*)::int as ended
     from forge.event where stream_id = any($1::uuid[]) and kind in ('turn.completed', 'turn.failed', 'turn.cancelled', 'turn.abandoned')`,
    [sessionIds],
  );
  if (rows[0]?.completed !== expected || rows[0].ended !== expected)
    throw new Error(`${expected} turns were counted, and the database holds ${JSON.stringify(rows[0])}`);
}

/** The same for runs and the steps in them. */
export async function checkRuns(pool: pg.Pool, runIds: readonly string[], steps: number): Promise<void> {
  const { rows } = await pool.query<{ runs: number; steps: number }>(
    `select count(*) filter (where kind = 'run.completed')::int as runs, count(*) filter (where kind = 'step.completed')::int as steps
     from forge.event where stream_id = any($1::uuid[])`,
    [runIds],
  );
  if (rows[0]?.runs !== runIds.length || rows[0].steps !== runIds.length * steps) {
    throw new Error(`${runIds.length} runs of ${steps} steps were counted, and the database holds ${JSON.stringify(rows[0])}`);
  }
}
