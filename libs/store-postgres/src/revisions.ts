import type { StoredRevision } from "@forge/engine/ports";
import { sql } from "kysely";
import type { Database } from "./database.ts";

const PAGE_MAX = 500;

type RevisionRow = Omit<StoredRevision, "createdAtMs"> & { readonly createdAt: Date };

const COLUMNS = sql`revision_id as "revisionId", parent_id as "parentId", label, entry_count as "entryCount", size, created_at as "createdAt"`;

function toRevision({ createdAt, ...row }: RevisionRow): StoredRevision {
  return { ...row, createdAtMs: createdAt.getTime() };
}

/** Only what is older than an hour is written anew, well within the day for which a sweep spares it; what somebody else is renewing just now is left to him. */
export async function renewArtifacts(database: Database, namespace: string, sha256s: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await database.run<{ sha256: string; size: number }>(
    "forge_renew_artifacts",
    sql`
    with old as (
      select ns, sha256 from forge.artifact
      where ns = ${namespace} and sha256 = any(${sha256s}::text[]) and stored_at < now() - interval '1 hour'
      for no key update skip locked
    ), renewed as (
      update forge.artifact a set stored_at = now() from old where a.ns = old.ns and a.sha256 = old.sha256
    )
    select sha256, octet_length(content) as size from forge.artifact where ns = ${namespace} and sha256 = any(${sha256s}::text[])`,
  );
  return new Map(rows.map(({ sha256, size }) => [sha256, size]));
}

export async function saveRevision(
  database: Database,
  namespace: string,
  revision: Omit<StoredRevision, "createdAtMs">,
  artifacts: readonly string[],
): Promise<StoredRevision> {
  const { revisionId, parentId, label, entryCount, size } = revision;
  const [saved] = await database.run<RevisionRow>(
    "forge_save_revision",
    sql`
    with saved as (
      insert into forge.revision (ns, revision_id, parent_id, label, entry_count, size)
      values (${namespace}, ${revisionId}, ${parentId}, ${label}, ${entryCount}::int, ${size}::bigint)
      on conflict do nothing returning *
    ), referred as (
      insert into forge.revision_artifact (ns, sha256, revision_id)
      select distinct saved.ns, a.sha256, saved.revision_id from saved, unnest(${artifacts}::text[]) as a(sha256)
    )
    select ${COLUMNS} from saved`,
  );
  // Whoever meets another that keeps the same waits for its commit, so that it is there then.
  return saved === undefined ? ((await findRevision(database, namespace, revisionId)) as StoredRevision) : toRevision(saved);
}

export async function findRevision(database: Database, namespace: string, revisionId: string): Promise<StoredRevision | undefined> {
  const [row] = await database.run<RevisionRow>(
    "forge_find_revision",
    sql`select ${COLUMNS} from forge.revision where ns = ${namespace} and revision_id = ${revisionId}`,
  );
  return row === undefined ? undefined : toRevision(row);
}

export async function listRevisions(
  database: Database,
  namespace: string,
  page: { readonly limit: number; readonly label?: string; readonly before?: Pick<StoredRevision, "createdAtMs" | "revisionId"> },
): Promise<readonly StoredRevision[]> {
  const conditions = [sql`ns = ${namespace}`];
  // The index leaves out revisions without a label, and is used only where the condition says so too.
  if (page.label !== undefined) conditions.push(sql`label = ${page.label} and label <> ''`);
  if (page.before !== undefined) {
    conditions.push(sql`(created_at, revision_id) < (to_timestamp(${page.before.createdAtMs}::float8 / 1000), ${page.before.revisionId})`);
  }
  const rows = await database.run<RevisionRow>(
    undefined,
    sql`
    select ${COLUMNS} from forge.revision where ${sql.join(conditions, sql` and `)}
    order by created_at desc, revision_id desc limit ${Math.min(Math.max(page.limit, 1), PAGE_MAX)}::int`,
  );
  return rows.map(toRevision);
}
