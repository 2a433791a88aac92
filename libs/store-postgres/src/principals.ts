import type { GrantedPrincipal, StoredPrincipal } from "@forge/engine/ports";
import { sql } from "kysely";
import type { Database } from "./database.ts";

const PAGE_MAX = 500;

/** Who grants what a server's start grants. */
const SERVER = "control-plane";

type PrincipalRow = Omit<GrantedPrincipal, "expiresAtMs" | "createdAtMs"> & { readonly expiresAt: Date | null; readonly createdAt: Date };

const COLUMNS = sql`id, role, namespaces, queues, expires_at as "expiresAt", created_at as "createdAt", created_by as "createdBy"`;

function withExpiry<Row extends { readonly expiresAt: Date | null }>({ expiresAt, ...row }: Row): Omit<Row, "expiresAt"> & { readonly expiresAtMs?: number } {
  return { ...row, ...(expiresAt === null ? {} : { expiresAtMs: expiresAt.getTime() }) };
}

function toPrincipal({ createdAt, ...row }: PrincipalRow): GrantedPrincipal {
  return { ...withExpiry(row), createdAtMs: createdAt.getTime() };
}

function values({ id, role, namespaces, queues, expiresAtMs }: StoredPrincipal, createdBy: string, tokenHash: Uint8Array) {
  const expiresAt = sql`to_timestamp(${expiresAtMs ?? null}::float8 / 1000)`;
  return sql`(${id}, ${role}, ${[...namespaces]}::text[], ${[...queues]}::text[], ${tokenHash}::bytea, ${expiresAt}, ${createdBy})`;
}

/** Creates or replaces the principal of this id; its earlier token is no longer known then. */
export async function savePrincipal(database: Database, principal: StoredPrincipal, tokenHash: Uint8Array): Promise<void> {
  await database.run(
    undefined,
    sql`
    insert into forge.principal (id, role, namespaces, queues, token_hash, expires_at, created_by) values ${values(principal, SERVER, tokenHash)}
    on conflict (id) do update set role = excluded.role, namespaces = excluded.namespaces, queues = excluded.queues, token_hash = excluded.token_hash,
      expires_at = excluded.expires_at`,
  );
}

export async function findPrincipal(database: Database, tokenHash: Uint8Array): Promise<StoredPrincipal | undefined> {
  const [row] = await database.run<Omit<PrincipalRow, "createdAt" | "createdBy">>(
    "forge_find_principal",
    sql`select id, role, namespaces, queues, expires_at as "expiresAt" from forge.principal where token_hash = ${tokenHash}::bytea`,
  );
  return row === undefined ? undefined : withExpiry(row);
}

/** An expired principal keeps neither its id nor its token from a new one. */
export async function createPrincipal(
  database: Database,
  principal: StoredPrincipal,
  createdBy: string,
  tokenHash: Uint8Array,
): Promise<GrantedPrincipal | undefined> {
  await database.run(undefined, sql`delete from forge.principal where (id = ${principal.id} or token_hash = ${tokenHash}::bytea) and expires_at <= now()`);
  await database.run(
    undefined,
    sql`
    insert into forge.principal (id, role, namespaces, queues, token_hash, expires_at, created_by) values ${values(principal, createdBy, tokenHash)}
    on conflict do nothing`,
  );
  const [row] = await database.run<PrincipalRow>(
    undefined,
    sql`
    select ${COLUMNS} from forge.principal
    where (id, role, namespaces, queues, token_hash) = (${principal.id}, ${principal.role}, ${[...principal.namespaces]}::text[], ${[...principal.queues]}::text[], ${tokenHash}::bytea)
      and expires_at is not distinct from to_timestamp(${principal.expiresAtMs ?? null}::float8 / 1000)`,
  );
  return row === undefined ? undefined : toPrincipal(row);
}

export async function listPrincipals(
  database: Database,
  { namespaces, limit, afterId }: { readonly namespaces: readonly string[]; readonly limit: number; readonly afterId?: string },
): Promise<readonly GrantedPrincipal[]> {
  const rows = await database.run<PrincipalRow>(
    undefined,
    sql`
    select ${COLUMNS} from forge.principal
    where namespaces <@ ${[...namespaces]}::text[] and (expires_at is null or expires_at > now()) and id > ${afterId ?? ""}
    order by id limit ${Math.min(Math.max(limit, 1), PAGE_MAX)}::int`,
  );
  return rows.map(toPrincipal);
}

export async function removePrincipal(database: Database, id: string, namespaces: readonly string[]): Promise<boolean> {
  const rows = await database.run<{ id: string }>(
    undefined,
    sql`delete from forge.principal where id = ${id} and namespaces <@ ${[...namespaces]}::text[] returning id`,
  );
  return rows.length > 0;
}
