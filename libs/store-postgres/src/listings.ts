import type { KindedListing, ListedStream, ListFilter, PendingApprovalRow } from "@forge/engine/ports";
import { isUuid } from "@forge/protocol";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.ts";

const PAGE_MAX = 500;

type ListedRow = Omit<ListedStream, "createdAtMs" | "updatedAtMs"> & { readonly createdAt: Date; readonly updatedAt: Date };

const ROW = sql`status, detail_status as "detailStatus", title, subject, version, labels, archived, updated_at as "updatedAt"`;
const COLUMNS = sql`stream_id as "streamId", created_at as "createdAt", ${ROW}`;

function toListed<Row extends ListedRow>({ createdAt, updatedAt, ...row }: Row) {
  return { ...row, createdAtMs: createdAt.getTime(), updatedAtMs: updatedAt.getTime() };
}

/**
 * Newest first. A filter by status, subject or one label reads its page only, by an index in this order. Of several labels the first is found by its index, and what else is asked for is
 * looked at row by row.
 */
export async function list(database: Database, namespace: string, filter: ListFilter): Promise<readonly ListedStream[]> {
  if (filter.before !== undefined && !isUuid(filter.before.streamId)) return [];
  const [label, ...others] = Object.entries(filter.labels);
  const placed = [sql`ns = ${namespace}`, sql`kind = ${filter.kind}`];
  if (filter.createdFromMs !== undefined) placed.push(sql`created_at >= to_timestamp(${filter.createdFromMs}::float8 / 1000)`);
  if (filter.createdBeforeMs !== undefined) placed.push(sql`created_at < to_timestamp(${filter.createdBeforeMs}::float8 / 1000)`);
  if (filter.before !== undefined) {
    placed.push(sql`(created_at, stream_id) < (to_timestamp(${filter.before.createdAtMs}::float8 / 1000), ${filter.before.streamId}::uuid)`);
  }
  const shown = [sql`true`];
  if (filter.status !== undefined) shown.push(sql`status = ${filter.status}`);
  if (filter.subject !== undefined) shown.push(sql`subject = ${filter.subject}`);
  if (others.length > 0) shown.push(sql`labels @> ${JSON.stringify(Object.fromEntries(others))}::jsonb`);
  const and = (conditions: readonly RawBuilder<unknown>[]) => sql.join(conditions, sql` and `);
  const end = sql`order by created_at desc, stream_id desc limit ${Math.min(Math.max(filter.limit, 1), PAGE_MAX)}::int`;
  const query =
    label === undefined
      ? sql<ListedRow>`select ${COLUMNS} from forge.listing where ${and([...placed, ...shown])} ${end}`
      : // The limit inside keeps the planner from reading all that has the label where many rows have.
        sql<ListedRow>`
        select labelled.stream_id as "streamId", labelled.created_at as "createdAt", row.* from forge.listing_label labelled cross join lateral (
          select ${ROW} from forge.listing where ns = labelled.ns and stream_id = labelled.stream_id and ${and(shown)} limit 1
        ) row where ${and(placed)} and name = ${label[0]} and value = ${label[1]} ${end}`;
  return (await database.run(undefined, query)).map(toListed);
}

export async function listed(database: Database, namespace: string, streamIds: readonly string[]): Promise<readonly KindedListing[]> {
  const rows = await database.run<ListedRow & Pick<KindedListing, "kind">>(
    "forge_listed",
    sql`select kind, ${COLUMNS} from forge.listing where ns = ${namespace} and stream_id = any(${streamIds.slice(0, PAGE_MAX).filter(isUuid)}::uuid[])`,
  );
  return rows.map(toListed);
}

/** Streams with approvals that wait, by stream id. */
export async function pendingApprovals(
  database: Database,
  namespace: string,
  page: { limit: number; afterStreamId?: string; streamId?: string },
): Promise<readonly PendingApprovalRow[]> {
  const conditions = [sql`ns = ${namespace}`, sql`cardinality(approvals) > 0`];
  for (const id of [page.afterStreamId, page.streamId]) if (id !== undefined && !isUuid(id)) return [];
  if (page.afterStreamId !== undefined) conditions.push(sql`stream_id > ${page.afterStreamId}::uuid`);
  if (page.streamId !== undefined) conditions.push(sql`stream_id = ${page.streamId}::uuid`);
  return await database.run<PendingApprovalRow>(
    undefined,
    sql`
    select stream_id as "streamId", kind, approvals from forge.listing where ${sql.join(conditions, sql` and `)}
    order by stream_id limit ${Math.min(Math.max(page.limit, 1), PAGE_MAX)}::int`,
  );
}

/** Streams whose status is not final, by namespace and stream id. */
export async function openStreams(
  database: Database,
  after: { namespace: string; streamId: string } | undefined,
  limit: number,
): Promise<readonly { namespace: string; streamId: string; kind: "session" | "run" }[]> {
  const conditions = [sql`not final`];
  if (after !== undefined) conditions.push(sql`(ns, stream_id) > (${after.namespace}, ${after.streamId}::uuid)`);
  return await database.run<{ namespace: string; streamId: string; kind: "session" | "run" }>(
    undefined,
    sql`
    select ns as namespace, stream_id as "streamId", kind from forge.listing where ${sql.join(conditions, sql` and `)}
    order by ns, stream_id limit ${limit}::int`,
  );
}
