import { create } from "@bufbuild/protobuf";
import { durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Call, ForgeError, isUuid } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type ArchivedRun, ArchivedRunSchema, type ArchiveRunsRequest, type ArchiveRunsResponse, ArchiveRunsResponseSchema } from "@forge/protocol/workflow";
import { type ArchiveOutcome, archiveRun } from "../archive/archive-run.ts";
import type { EndedRun, Store } from "../ports/index.ts";
import { checkPageSize, checkUuid } from "./check.ts";
import { ENDED_STATUSES } from "./run-history.ts";

/** The archive of a run that ended in the year 1 is as old as any. */
const OLDER_THAN_MAX_MS = 100 * 366 * 86_400_000;

export interface ArchiveRunsPorts {
  readonly store: Store;
  /** Whether every live control plane can read an archived run. */
  readonly mayArchive: () => Promise<boolean>;
}

/**
 * Archives one run, or a page of those that ended long enough ago. Errors: validation; unsupported_version, FORMAT_NOT_READ, while an older control plane runs; of one: not_found;
 * conflict, RUN_ACTIVE.
 */
export async function archiveRuns({ store, mayArchive }: ArchiveRunsPorts, request: ArchiveRunsRequest, call: Call): Promise<ArchiveRunsResponse> {
  const { namespace, signal } = call;
  if (!request.dryRun && !(await mayArchive())) {
    throw new ForgeError(
      ErrorCode.UNSUPPORTED_VERSION,
      "nothing can be archived while an older control plane runs, which could not read it: try again once that one has ended",
      {
        reason: "FORMAT_NOT_READ",
        origin: "control-plane",
        retryable: true,
      },
    );
  }
  if (request.runId !== "") {
    if (request.olderThan !== undefined) throw ForgeError.validation("older_than", "older_than chooses among all runs: leave it out where run_id names one");
    return create(ArchiveRunsResponseSchema, { runs: await archiveOne(store, namespace, checkUuid(request.runId, "run_id"), request.dryRun) });
  }
  const olderThanMs = request.olderThan === undefined ? 0 : durationMs(request.olderThan);
  if (!(olderThanMs >= 0 && olderThanMs <= OLDER_THAN_MAX_MS)) throw ForgeError.validation("older_than", "older_than must lie between 0 and a hundred years");
  const limit = checkPageSize(request.pageSize);
  const after = parseToken(request.pageToken, namespace);
  const page = await store.endedRuns({ olderThanMs, namespace, limit, ...(after === undefined ? {} : { after }) });
  const runs: ArchivedRun[] = [];
  let last: EndedRun | undefined;
  for (const run of page) {
    // Whoever asked has gone: what is archived stays so.
    if (signal.aborted) break;
    const outcome = request.dryRun ? ("dry" as const) : await archiveRun(store, namespace, run.streamId);
    if (outcome === "dry") runs.push(archivedRun(run.streamId, run.endedAtMs));
    else if (outcome.outcome === "archived") runs.push(archivedRun(run.streamId, run.endedAtMs, outcome));
    last = run;
  }
  return create(ArchiveRunsResponseSchema, { runs, nextPageToken: page.length === limit && last !== undefined ? token(last) : "" });
}

async function archiveOne(store: Store, namespace: string, runId: string, isDry: boolean): Promise<ArchivedRun[]> {
  const [row] = await store.listed(namespace, [runId]);
  if (row === undefined || row.kind !== "run") throw notFound(runId);
  if (row.archived) return [];
  if (!ENDED_STATUSES.has(row.status)) throw active(runId, "it has not ended; cancel it, or wait for its end");
  if (isDry) return [archivedRun(runId, row.updatedAtMs)];
  const outcome = await archiveRun(store, namespace, runId);
  switch (outcome.outcome) {
    case "archived":
      return [archivedRun(runId, row.updatedAtMs, outcome)];
    case "already":
      return [];
    case "active":
      throw active(runId, "it goes on, or something that it asked for is on its way");
    case "waited-for":
      throw active(runId, `it is a step of run ${outcome.parentRunId}, which has not ended`);
    case "missing":
      throw notFound(runId);
  }
}

function archivedRun(runId: string, endedAtMs: number, done?: Extract<ArchiveOutcome, { outcome: "archived" }>): ArchivedRun {
  return create(ArchivedRunSchema, {
    runId,
    endedAt: timestampFromMs(endedAtMs),
    eventCount: BigInt(done?.eventCount ?? 0),
    byteCount: BigInt(done?.byteCount ?? 0),
  });
}

function notFound(runId: string): ForgeError {
  return new ForgeError(ErrorCode.NOT_FOUND, `run ${runId} does not exist`, { reason: "RUN_NOT_FOUND", relatedIds: [runId] });
}

function active(runId: string, why: string): ForgeError {
  return new ForgeError(ErrorCode.CONFLICT, `run ${runId} can't be archived: ${why}`, { reason: "RUN_ACTIVE", relatedIds: [runId] });
}

/** The last run of a page, as an opaque token. */
function token({ endedAtMs, streamId }: EndedRun): string {
  return Buffer.from(`${endedAtMs} ${streamId}`).toString("base64url");
}

function parseToken(text: string, namespace: string): EndedRun | undefined {
  if (text === "") return undefined;
  const [endedAt, streamId] = Buffer.from(text, "base64url").toString().split(" ");
  const endedAtMs = Number(endedAt);
  if (!Number.isFinite(endedAtMs) || streamId === undefined || !isUuid(streamId)) {
    throw ForgeError.validation("page_token", "page_token is none that this server gave: begin again without it");
  }
  return { namespace, streamId, endedAtMs };
}
