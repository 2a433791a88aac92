import type { StoredSchedule } from "@forge/engine/ports";
import { type RawBuilder, sql } from "kysely";

export type ScheduleRow = Omit<StoredSchedule, "takenThroughMs" | "bufferedMs" | "lastRunId" | "createdAtMs" | "updatedAtMs"> & {
  readonly takenThrough: Date;
  readonly bufferedAt: Date | null;
  readonly lastRunId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export const COLUMNS = sql`schedule_id as "scheduleId", revision, version, spec, workflow_id as "workflowId", workflow_version as "workflowVersion", paused, note,
  taken_through as "takenThrough", buffered_at as "bufferedAt", last_run_id as "lastRunId", created_at as "createdAt", updated_at as "updatedAt", updated_by as "updatedBy"`;

export function toSchedule<Row extends ScheduleRow>({ takenThrough, bufferedAt, lastRunId, createdAt, updatedAt, ...row }: Row) {
  return {
    ...row,
    takenThroughMs: takenThrough.getTime(),
    bufferedMs: bufferedAt?.getTime(),
    lastRunId: lastRunId ?? undefined,
    createdAtMs: createdAt.getTime(),
    updatedAtMs: updatedAt.getTime(),
  };
}

/** A moment as the database has it; null where there is none. */
export function moment(ms: number | undefined): RawBuilder<unknown> {
  return sql`to_timestamp(${ms ?? null}::float8 / 1000)`;
}
