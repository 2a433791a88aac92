import { create, fromBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ForgeErrorSchema } from "@forge/protocol/common";
import {
  type Schedule,
  ScheduleOutcome,
  ScheduleSchema,
  ScheduleSpecSchema,
  type ScheduleSummary,
  ScheduleSummarySchema,
  type ScheduleTime,
  ScheduleTimeSchema,
  type StartRunRequest,
} from "@forge/protocol/workflow";
import type { StoredSchedule, StoredTime } from "../ports/index.ts";
import { timingOf } from "../schedules/schedule-spec.ts";

/** A schedule as clients see it; its next time is the one after what has been taken and after now. */
export function scheduleMessage(stored: StoredSchedule, run: StartRunRequest, nowMs: number): Schedule {
  return create(ScheduleSchema, {
    scheduleId: stored.scheduleId,
    spec: { ...fromBinary(ScheduleSpecSchema, stored.spec), run },
    paused: stored.paused,
    note: stored.note,
    revision: BigInt(stored.revision),
    createdAt: timestampFromMs(stored.createdAtMs),
    updatedAt: timestampFromMs(stored.updatedAtMs),
    updatedBy: stored.updatedBy,
    lastRunId: stored.lastRunId ?? "",
    nextAt: nextAt(stored, nowMs),
  });
}

/** A schedule in a list. */
export function scheduleSummary(stored: StoredSchedule, nowMs: number): ScheduleSummary {
  const { cron, timeZone, overlap } = fromBinary(ScheduleSpecSchema, stored.spec);
  return create(ScheduleSummarySchema, {
    scheduleId: stored.scheduleId,
    cron,
    timeZone,
    overlap,
    paused: stored.paused,
    note: stored.note,
    workflowId: stored.workflowId,
    workflowVersion: stored.workflowVersion,
    lastRunId: stored.lastRunId ?? "",
    nextAt: nextAt(stored, nowMs),
  });
}

/** A time that was taken. */
export function pastTime({ atMs, commandId, outcome, runId, error, count, decidedAtMs }: StoredTime): ScheduleTime {
  return create(ScheduleTimeSchema, {
    scheduledAt: timestampFromMs(atMs),
    outcome: ScheduleOutcome[outcome],
    runId: runId ?? "",
    error: error === undefined ? undefined : fromBinary(ForgeErrorSchema, error),
    decidedAt: timestampFromMs(decidedAtMs),
    commandId,
    count,
  });
}

function nextAt(stored: StoredSchedule, nowMs: number) {
  if (stored.paused) return undefined;
  const nextMs = timingOf(stored.spec).calendar.next(Math.max(stored.takenThroughMs, nowMs));
  return nextMs === undefined ? undefined : timestampFromMs(nextMs);
}
