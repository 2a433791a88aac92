import type { DefinitionStore, StoredDefinition } from "@forge/engine/ports";
import { sql } from "kysely";
import type { Database } from "../database.ts";

const PAGE_MAX = 500;

type DefinitionRow = Omit<StoredDefinition, "createdAtMs"> & { readonly createdAt: Date };

const COLUMNS = sql`id, version, hash, created_at as "createdAt", created_by as "createdBy"`;

function toDefinition<Row extends DefinitionRow>({ createdAt, ...row }: Row) {
  return { ...row, createdAtMs: createdAt.getTime() };
}

export async function saveDefinition(
  database: Database,
  namespace: string,
  definition: Parameters<DefinitionStore["saveDefinition"]>[1],
  content: Parameters<DefinitionStore["saveDefinition"]>[2],
): Promise<StoredDefinition> {
  const { id, version, hash, createdBy } = definition;
  const [saved] = await database.run<DefinitionRow>(
    "forge_save_definition",
    sql`
    with saved as (
      insert into forge.definition (ns, id, version, hash, bytes, created_by)
      values (${namespace}, ${id}, ${version}, ${hash}, ${content.bytes}::bytea, ${createdBy})
      on conflict do nothing returning *
    ), referred as (
      insert into forge.artifact_reference (ns, stream_id, sha256)
      select distinct saved.ns, ${content.referenceId}::uuid, a.sha256 from saved, unnest(${[...content.artifacts]}::text[]) as a(sha256)
      on conflict do nothing
    )
    select ${COLUMNS} from saved`,
  );
  if (saved !== undefined) return toDefinition(saved);
  // Whoever meets another that keeps the same waits for its commit, so that it is there then.
  const { bytes: _, ...there } = (await findDefinition(database, namespace, id, version)) as StoredDefinition & { bytes: Uint8Array };
  return there;
}

export async function findDefinition(
  database: Database,
  namespace: string,
  id: string,
  version?: string,
): Promise<(StoredDefinition & { readonly bytes: Uint8Array }) | undefined> {
  const which = version === undefined ? sql`true order by numbers desc` : sql`version = ${version}`;
  const [row] = await database.run<DefinitionRow & { readonly bytes: Buffer }>(
    version === undefined ? "forge_newest_definition" : "forge_find_definition",
    sql`select ${COLUMNS}, bytes from forge.definition where ns = ${namespace} and id = ${id} and ${which} limit 1`,
  );
  return row === undefined ? undefined : toDefinition(row);
}

export async function listDefinitions(
  database: Database,
  namespace: string,
  page: Parameters<DefinitionStore["listDefinitions"]>[1],
): Promise<readonly StoredDefinition[]> {
  const conditions = [sql`ns = ${namespace}`];
  if (page.id !== undefined) conditions.push(sql`id = ${page.id}`);
  if (page.after !== undefined) conditions.push(sql`(id, version) > (${page.after.id}, ${page.after.version})`);
  const rows = await database.run<DefinitionRow>(
    undefined,
    sql`
    select ${COLUMNS} from forge.definition where ${sql.join(conditions, sql` and `)}
    order by id, version limit ${Math.min(Math.max(page.limit, 1), PAGE_MAX)}::int`,
  );
  return rows.map(toDefinition);
}
