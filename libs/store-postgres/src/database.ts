import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type RawBuilder } from "kysely";
import pg from "pg";
import { isConnectionLost, toForgeError } from "./storage-error.ts";

/** Where the database is: a connection string, or its parts. */
export type PostgresConnection = Pick<pg.ClientConfig, "connectionString" | "host" | "port" | "database" | "user" | "password" | "ssl">;

const CONNECT_TIMEOUT_MS = 10_000;
/** No statement of the store takes this long on a healthy server; one that does has lost its connection. */
const QUERY_TIMEOUT_MS = 60_000;

const INT8: number = pg.types.builtins.INT8;

/** bigint as a number: a seq or a count never comes near 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number) => (oid === INT8 ? Number : pg.types.getTypeParser(oid)),
};

/** Only compiles templates to text and parameters; the statements run on the pool. */
const compiler = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

export function clientConfig(connection: PostgresConnection): pg.ClientConfig {
  const { connectionString, host, port, database, user, password, ssl } = connection;
  const defined = Object.fromEntries(
    Object.entries({ connectionString, host, port, database, user, password, ssl }).filter(([, value]) => value !== undefined),
  );
  return { ...defined, types, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: QUERY_TIMEOUT_MS, keepAlive: true, application_name: "forge" };
}

/** A bounded pool of connections. Every rejection is a ForgeError. */
export class Database {
  readonly #pool: pg.Pool;
  readonly #named: boolean;

  /** `settings` are given when a connection starts; without `named` there are none, because a transaction pooler shares its connections. */
  constructor(connection: PostgresConnection, options: { max: number; named: boolean; settings?: Readonly<Record<string, string>> }) {
    this.#named = options.named;
    const settings = Object.entries(options.named ? (options.settings ?? {}) : {}).map(([name, value]) => `-c ${name}=${value}`);
    this.#pool = new pg.Pool({
      ...clientConfig(connection),
      max: options.max,
      idleTimeoutMillis: 0,
      ...(settings.length > 0 ? { options: settings.join(" ") } : {}),
    });
    // A lost connection emits as well as it rejects what runs on it; the pool replaces it when the next statement comes.
    this.#pool.on("connect", (client) => client.on("error", () => undefined));
    this.#pool.on("error", () => undefined);
  }

  /** Runs a template; under a name, which must always have the same text, it is prepared once for each connection. */
  async run<Row>(name: string | undefined, query: RawBuilder<Row>): Promise<Row[]> {
    const compiled = query.compile(compiler);
    try {
      return await this.execute<Row>(name, compiled.sql, compiled.parameters);
    } catch (error) {
      throw toForgeError(error);
    }
  }

  /** The same for given text; rejects with pg's own errors. */
  async execute<Row>(name: string | undefined, text: string, values: readonly unknown[]): Promise<Row[]> {
    const client = await this.#pool.connect();
    let lost = false;
    try {
      const { rows } = await client.query({ name: this.#named ? name : undefined, text, values: values as unknown[] });
      return rows as Row[];
    } catch (error) {
      lost = isConnectionLost(error);
      throw error;
    } finally {
      client.release(lost);
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
