import { create, type DescEnum } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type SessionStatus, SessionStatusSchema, type SessionSummary, SessionSummarySchema, type TurnStatus, TurnStatusSchema } from "@forge/protocol/session";
import { type RunStatus, RunStatusSchema, type RunSummary, RunSummarySchema } from "@forge/protocol/workflow";
import type { ListedStream } from "../ports/index.ts";

/** A session as lists show it. */
export function sessionSummary(row: ListedStream): SessionSummary {
  return create(SessionSummarySchema, {
    sessionId: row.streamId,
    status: valueOf(SessionStatusSchema, row.status) as SessionStatus,
    turnStatus: valueOf(TurnStatusSchema, row.detailStatus) as TurnStatus,
    title: row.title,
    model: row.subject,
    labels: row.labels,
    createdAt: timestampFromMs(row.createdAtMs),
    updatedAt: timestampFromMs(row.updatedAtMs),
  });
}

/** A run as lists show it. */
export function runSummary(row: ListedStream): RunSummary {
  return create(RunSummarySchema, {
    runId: row.streamId,
    workflowId: row.subject,
    workflowVersion: row.version,
    status: valueOf(RunStatusSchema, row.status) as RunStatus,
    labels: row.labels,
    createdAt: timestampFromMs(row.createdAtMs),
    updatedAt: timestampFromMs(row.updatedAtMs),
    archived: row.archived,
  });
}

/** The value with this name; 0 where there is none. */
function valueOf(schema: DescEnum, name: string): number {
  return schema.values.find((value) => value.name === name)?.number ?? 0;
}
