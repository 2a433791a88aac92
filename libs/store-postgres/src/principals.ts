import type { StoredPrincipal } from "@forge/engine/ports";
import { sql } from "kysely";
import type { Database } from "./database.ts";

/** Creates or replaces the principal of this id; its earlier token is no longer known then. */
export async function savePrincipal(database: Database, principal: StoredPrincipal, tokenHash: Uint8Array): Promise<void> {
  await database.run(
    undefined,
    sql`
    insert into forge.principal (id, kind, namespaces, queues, token_hash)
    values (${principal.id}, ${principal.kind}, ${[...principal.namespaces]}::text[], ${[...principal.queues]}::text[], ${tokenHash}::bytea)
    on conflict (id) do update set kind = excluded.kind, namespaces = excluded.namespaces, queues = excluded.queues, token_hash = excluded.token_hash`,
  );
}

export async function findPrincipal(database: Database, tokenHash: Uint8Array): Promise<StoredPrincipal | undefined> {
  const [principal] = await database.run<StoredPrincipal>(
    "forge_find_principal",
    sql`select id, kind, namespaces, queues from forge.principal where token_hash = ${tokenHash}::bytea`,
  );
  return principal;
}
