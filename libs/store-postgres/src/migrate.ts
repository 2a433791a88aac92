import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import pg from "pg";
import { clientConfig, type PostgresConnection } from "./database.ts";
import { isConnectionLost, sqlState, toForgeError } from "./storage-error.ts";

export interface MigrateOptions extends PostgresConnection {
  /** Where the numbered SQL files are; default: beside this module. A program in one file brings its own. */
  readonly migrationsDirectory?: string;
}

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
  readonly digest: string;
}

const MIGRATIONS = fileURLToPath(new URL("./migrations/", import.meta.url));
const POSTGRES_VERSION_MIN = 150000;
const VERSION_QUERY = "select current_setting('server_version_num')::int as version, current_setting('server_version') as name";

/** An arbitrary number that nothing else locks: "forge" in ASCII. */
const LOCK = 0x666f726765;

const UNDEFINED_TABLE = "42P01";
const INVALID_SCHEMA = "3F000";

/**
 * Brings the schema up to date, in one transaction under a lock: any number may call it at once, and it is done once. Migrations that are newer than the files are left alone,
 * because older and newer replicas run side by side. Rejects with `unsupported_version` below PostgreSQL 15 and with `conflict` where an applied file has been changed.
 */
export async function migrate(options: MigrateOptions): Promise<{ applied: readonly string[] }> {
  const migrations = await readMigrations(options.migrationsDirectory ?? MIGRATIONS);
  const client = new pg.Client(clientConfig(options));
  // A lost connection also rejects what runs on it.
  client.on("error", () => undefined);
  try {
    await client.connect();
    await requireVersion(async (text) => (await client.query<{ version: number; name: string }>(text)).rows);
    // Nearly every start finds nothing to do, and then need not take the lock.
    const pending = pendingOf(migrations, await appliedMigrations(client));
    return { applied: pending.length === 0 ? [] : await applyPending(client, migrations) };
  } catch (error) {
    throw toForgeError(error);
  } finally {
    // What the transaction could not commit is rolled back by the end of its connection.
    await client.end().catch(() => undefined);
  }
}

/** How a database stands to what this version needs. */
export interface DatabaseState {
  /** For people, for example "18.1". */
  readonly version: string;
  /** Of the newest migration that was applied; 0: none. */
  readonly schemaVersion: number;
  /** Of the newest migration that this version has. */
  readonly knownSchemaVersion: number;
}

/** Looks at a database and changes nothing. Errors: storage_error where it can't be reached; unsupported_version; conflict, as `migrate`. */
export async function inspectDatabase(options: MigrateOptions & { readonly timeoutMs: number }): Promise<DatabaseState> {
  const migrations = await readMigrations(options.migrationsDirectory ?? MIGRATIONS);
  const client = new pg.Client({ ...clientConfig(options), connectionTimeoutMillis: options.timeoutMs, query_timeout: options.timeoutMs });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number; name: string }>(VERSION_QUERY);
    await requireVersion(async () => rows);
    const applied = await appliedMigrations(client);
    pendingOf(migrations, applied);
    return { version: rows[0]?.name ?? "", schemaVersion: Math.max(0, ...applied.keys()), knownSchemaVersion: migrations.length };
  } catch (error) {
    throw toForgeError(error);
  } finally {
    // Nothing was begun that an end could spoil.
    await client.end().catch(() => undefined);
  }
}

/** Rejects with `unsupported_version` below PostgreSQL 15. */
export async function requireVersion(query: (text: string) => Promise<readonly { version: number; name: string }[]>): Promise<void> {
  const [found] = await query(VERSION_QUERY);
  if (found !== undefined && found.version >= POSTGRES_VERSION_MIN) return;
  const message = `Forge needs PostgreSQL 15 or newer; this server is ${found?.name ?? "unknown"}. Upgrade the server, or leave DATABASE_URL unset to use the embedded one.`;
  throw new ForgeError(ErrorCode.UNSUPPORTED_VERSION, message, { reason: "POSTGRES_TOO_OLD" });
}

async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort();
  const migrations = await Promise.all(
    names.map(async (name): Promise<Migration> => {
      const text = await readFile(join(directory, name), "utf8");
      return { version: Number(name.slice(0, 4)), name, text, digest: createHash("sha256").update(text).digest("hex") };
    }),
  );
  const misplaced = migrations.find(({ version }, index) => version !== index + 1);
  if (migrations.length === 0 || misplaced !== undefined) {
    throw new ForgeError(
      ErrorCode.INTERNAL,
      `The migrations in ${directory} are not numbered from 0001 without a gap: ${misplaced?.name ?? "there are none"}.`,
    );
  }
  return migrations;
}

async function appliedMigrations(client: pg.Client): Promise<ReadonlyMap<number, string>> {
  try {
    const { rows } = await client.query<{ version: number; digest: string }>("select version, digest from forge.migration");
    return new Map(rows.map(({ version, digest }) => [version, digest]));
  } catch (error) {
    if ([UNDEFINED_TABLE, INVALID_SCHEMA].includes(sqlState(error) ?? "")) return new Map();
    throw error;
  }
}

function pendingOf(migrations: readonly Migration[], applied: ReadonlyMap<number, string>): readonly Migration[] {
  const changed = migrations.find(({ version, digest }) => applied.has(version) && applied.get(version) !== digest);
  if (changed !== undefined) {
    const message = `Migration ${changed.name} was applied with other content than it has now. Applied migrations never change: add a new one.`;
    throw new ForgeError(ErrorCode.CONFLICT, message, { reason: "MIGRATION_CHANGED" });
  }
  return migrations.filter(({ version }) => !applied.has(version));
}

async function applyPending(client: pg.Client, migrations: readonly Migration[]): Promise<readonly string[]> {
  await client.query("begin");
  await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
  await client.query("create schema if not exists forge");
  await client.query(`
    create table if not exists forge.migration (version integer primary key, name text not null, digest text not null, applied_at timestamptz not null default now())`);
  // Somebody else may have applied them while this one waited for the lock.
  const pending = pendingOf(migrations, await appliedMigrations(client));
  for (const { version, name, text, digest } of pending) {
    try {
      await client.query(text);
    } catch (error) {
      if (isConnectionLost(error)) throw error;
      throw new ForgeError(ErrorCode.INTERNAL, `Migration ${name} failed, nothing of it was kept: ${toForgeError(error).message}`, {
        reason: "MIGRATION_FAILED",
        cause: error,
      });
    }
    await client.query("insert into forge.migration (version, name, digest) values ($1, $2, $3)", [version, name, digest]);
  }
  await client.query("commit");
  return pending.map(({ name }) => name);
}
