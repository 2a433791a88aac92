import { z } from "zod";

const list = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== ""),
  );

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

const databaseUrl = z.string().regex(/^postgres(?:ql)?:\/\//, "expected postgres://...");

const ConfigSchema = z.object({
  /** A PostgreSQL, 15 or newer. */
  DATABASE_URL: databaseUrl,
  /** The same database past the pooler in transaction mode that DATABASE_URL goes through; empty: there is none. */
  DATABASE_DIRECT_URL: z
    .literal("")
    .transform(() => undefined)
    .or(databaseUrl)
    .optional(),
  FORGE_HOST: z.string().min(1).default("127.0.0.1"),
  FORGE_PORT: z.coerce.number().int().min(0).max(65_535).default(7233),
  /** The clients' token; made where there is none. */
  FORGE_TOKEN_FILE: z.string().min(1).default(".forge/data/token"),
  /** The workers' token; made where there is none. */
  FORGE_WORKER_TOKEN_FILE: z.string().min(1).default(".forge/data/worker-token"),
  /** Queues that the workers' token grants, with commas between; empty: all. */
  FORGE_WORKER_QUEUES: list,
  /** Browser origins that may call, with commas between. */
  FORGE_ORIGINS: list,
  /** Names, beside those of loopback, under which it is reached, with commas between. */
  FORGE_HOSTS: list,
  /** So long after its end a run is archived, such as 30d or 12h; empty: none is. */
  FORGE_ARCHIVE_AFTER: z
    .string()
    .regex(/^(\d{1,6}(m|h|d))?$/, "expected a duration such as 30d or 12h")
    .default("")
    .transform((text) => (text === "" ? undefined : Number(text.slice(0, -1)) * (UNITS_MS[text.slice(-1)] as number))),
  FORGE_LOG_LEVEL: z.enum(["debug", "info", "warn", "error"]).default("info"),
});

/** The control plane's settings. */
export type Config = z.infer<typeof ConfigSchema>;

/** Reads the settings from an environment. Throws with the name of every variable that is wrong, never with a value. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const { data, error } = ConfigSchema.safeParse(environment);
  if (data !== undefined) return data;
  throw new Error(error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("\n"));
}
