import type pg from "pg";

/** Rows of the task table that are no longer true for anybody who comes now, and are still there. Counted, not estimated, from what the table's pages hold. */
export async function deadRows(pool: pg.Pool): Promise<number> {
  await pool.query("create extension if not exists pgstattuple");
  const { rows } = await pool.query<{ count: string }>("select dead_tuple_count::text as count from pgstattuple('forge.task')");
  return Number(rows[0]?.count);
}
