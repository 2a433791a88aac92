import type pg from "pg";

/** What sessions of one turn each must hold together. */
export interface ExpectedCalls {
  readonly sessionIds: readonly string[];
  readonly modelCalls: number;
  readonly toolCalls: number;
}

/** Calls that were counted must have completed, each once, in the database. */
export async function checkCalls(pool: pg.Pool, { sessionIds, modelCalls, toolCalls }: ExpectedCalls): Promise<void> {
  const { rows } = await pool.query<{ turns: number; models: number; tools: number }>(
    `select count(*) filter (where kind = 'turn.completed')::int as turns, count(*) filter (where kind = 'model.completed')::int as models,
            count(*) filter (where kind = 'tool.completed')::int as tools
     from forge.event where stream_id = any($1::uuid[])`,
    [sessionIds],
  );
  const [row] = rows;
  if (row?.turns !== sessionIds.length || row.models !== modelCalls || row.tools !== toolCalls)
    throw new Error(
      `${sessionIds.length} turns, ${modelCalls} model calls and ${toolCalls} tool calls were counted, and the database holds ${JSON.stringify(row)}`,
    );
}
