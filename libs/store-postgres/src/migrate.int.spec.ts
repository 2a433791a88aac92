import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ErrorCode } from "@forge/protocol/common";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { clientConfig } from "./database.ts";
import { migrate, requireVersion } from "./migrate.ts";
import { openTestDatabase, type TestDatabase } from "./testing/database.ts";

const MIGRATIONS = fileURLToPath(new URL("./migrations/", import.meta.url));

/** All that there are; what is written beside them has numbers that follow. */
const NAMES = (await readdir(MIGRATIONS)).toSorted();
const following = (offset: number, name: string): string => `${String(NAMES.length + offset).padStart(4, "0")}_${name}.sql`;

let database: TestDatabase;
let client: pg.Client;
let directory: string;

beforeAll(async () => {
  database = await openTestDatabase();
  client = new pg.Client(clientConfig(database.connection));
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await database?.close();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "forge-migrations-"));
  await cp(MIGRATIONS, directory, { recursive: true });
});
afterEach(async () => {
  await rm(directory, { recursive: true });
  await client.query("drop schema if exists forge cascade");
});

const run = async () => await migrate({ ...database.connection, migrationsDirectory: directory });

/** Everything that the schema consists of, in words that do not depend on the order of its making. */
async function catalog(): Promise<unknown> {
  const queries = {
    columns: `select c.relname, a.attname, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull, a.attgenerated, co.collname, pg_get_expr(d.adbin, d.adrelid) as default
      from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_collation co on co.oid = a.attcollation
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where c.relnamespace = 'forge'::regnamespace and c.relkind in ('r', 'v', 'm', 'p') and a.attnum > 0 and not a.attisdropped order by 1, 2`,
    relations: "select relname, relkind, relpersistence, reloptions from pg_class where relnamespace = 'forge'::regnamespace order by 1",
    indexes: "select indexname, indexdef from pg_indexes where schemaname = 'forge' order by 1",
    constraints:
      "select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'forge'::regnamespace order by 1, 2",
    functions: "select proname, pg_get_functiondef(oid) from pg_proc where pronamespace = 'forge'::regnamespace order by 1, 2",
    triggers: "select tgrelid::regclass::text, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by 1, 2",
    types: "select typname from pg_type where typnamespace = 'forge'::regnamespace order by 1",
    data: "select (select count(*) from forge.incarnation) as incarnations",
  };
  const found: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(queries)) found[name] = (await client.query(text)).rows;
  return found;
}

describe("migrate", () => {
  it("adds up to the schema in one file", async () => {
    await migrate(database.connection);
    const migrated = await catalog();
    await client.query("drop schema forge cascade");
    await client.query(await readFile(new URL("./schema.sql", import.meta.url), "utf8"));
    expect(await catalog()).toEqual(migrated);
  });

  it("applies each migration once, also when many start at the same time", async () => {
    const results = await Promise.all(Array.from({ length: 5 }, run));
    expect(results.flatMap(({ applied }) => applied)).toEqual(NAMES);
    expect(await run()).toEqual({ applied: [] });
    expect((await client.query("select version, name from forge.migration order by version")).rows).toEqual(
      NAMES.map((name, index) => ({ version: index + 1, name })),
    );
  });

  it("makes an admin of whoever might do everything before there were roles, and leaves workers what they are", async () => {
    for (const name of NAMES.slice(1)) await rm(join(directory, name));
    await run();
    await client.query(
      "insert into forge.principal (id, kind, namespaces, queues, token_hash) values ('a', 'client', '{x}', '{}', '1'), ('b', 'worker', '{x}', '{q}', '2')",
    );
    await cp(MIGRATIONS, directory, { recursive: true });
    await run();
    expect((await client.query("select id, role, queues, expires_at from forge.principal order by id")).rows).toEqual([
      { id: "a", role: "admin", queues: [], expires_at: null },
      { id: "b", role: "worker", queues: ["q"], expires_at: null },
    ]);
  });

  it("keeps the first of triggers that were recorded twice", async () => {
    for (const name of NAMES.slice(8)) await rm(join(directory, name));
    await run();
    await client.query(`insert into forge.schedule_time (ns, schedule_id, at, command_id, outcome) values
      ('x', 's', to_timestamp(1), 'by-hand', 'STARTED'), ('x', 's', to_timestamp(2), 'by-hand', 'STARTED'), ('x', 's', to_timestamp(3), 'again', 'STARTED'),
      ('x', 's', to_timestamp(1), '', 'STARTED'), ('x', 's', to_timestamp(2), '', 'STARTED'), ('x', 'other', to_timestamp(2), 'by-hand', 'STARTED')`);
    await cp(MIGRATIONS, directory, { recursive: true });
    await run();
    const { rows } = await client.query<{ time: string }>(
      "select concat_ws(' ', schedule_id, extract(epoch from at)::int, command_id) as time from forge.schedule_time order by 1",
    );
    expect(rows.map(({ time }) => time)).toEqual(["other 2 by-hand", "s 1 ", "s 1 by-hand", "s 2 ", "s 3 again"]);
  });

  it("applies what is new on top, in order", async () => {
    await run();
    await writeFile(join(directory, following(2, "second")), "insert into forge.extra values (2);");
    await writeFile(join(directory, following(1, "first")), "create table forge.extra (n int); insert into forge.extra values (1);");
    expect(await run()).toEqual({ applied: [following(1, "first"), following(2, "second")] });
    expect((await client.query("select n from forge.extra order by n")).rows).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it("leaves nothing behind when one fails", async () => {
    await writeFile(join(directory, following(1, "broken")), "create table forge.half (n int); select 1 / 0;");
    await expect(run()).rejects.toMatchObject({ code: ErrorCode.INTERNAL, message: expect.stringMatching(/_broken.sql.*division by zero/) });
    expect((await client.query("select 1 from pg_namespace where nspname = 'forge'")).rows).toEqual([]);
  });

  it("refuses a file that was changed after it had been applied, and says which", async () => {
    await run();
    await writeFile(join(directory, "0001_foundation.sql"), "select 1;");
    await expect(run()).rejects.toMatchObject({
      code: ErrorCode.CONFLICT,
      reason: "MIGRATION_CHANGED",
      message: expect.stringContaining("0001_foundation.sql"),
    });
  });

  it("leaves a newer schema alone, because older replicas run beside newer ones", async () => {
    await writeFile(join(directory, following(1, "newer")), "select 1;");
    await run();
    await rm(join(directory, following(1, "newer")));
    expect(await run()).toEqual({ applied: [] });
  });

  it("refuses a directory whose numbers have a gap, or that holds none", async () => {
    await writeFile(join(directory, following(2, "gap")), "select 1;");
    await expect(run()).rejects.toMatchObject({ code: ErrorCode.INTERNAL, message: expect.stringContaining(following(2, "gap")) });
    await rm(join(directory, following(2, "gap")));
    for (const name of NAMES) await rm(join(directory, name));
    await expect(run()).rejects.toMatchObject({ code: ErrorCode.INTERNAL });
  });

  it("reports a database that can't be reached as storage_error", async () => {
    await expect(migrate({ connectionString: "postgres://nobody@127.0.0.1:1/none" })).rejects.toMatchObject({ code: ErrorCode.STORAGE_ERROR });
  });
});

describe("requireVersion", () => {
  it("accepts PostgreSQL 15 and newer, and refuses older ones by name", async () => {
    await requireVersion(async () => [{ version: 150000, name: "15.0" }]);
    await requireVersion(async () => [{ version: 180004, name: "18.4" }]);
    await expect(requireVersion(async () => [{ version: 140011, name: "14.11" }])).rejects.toMatchObject({
      code: ErrorCode.UNSUPPORTED_VERSION,
      message: expect.stringContaining("14.11"),
    });
  });
});
