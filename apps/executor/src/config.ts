import { hostname } from "node:os";
import { z } from "zod";

/** Names with commas between; blanks around them, and empty ones, count for nothing. */
function names(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

const ConfigSchema = z.object({
  /** Of the control plane. */
  FORGE_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:7233"),
  /** Where the worker's token is. */
  FORGE_TOKEN_FILE: z.string().min(1).default(".forge/data/worker-token"),
  /** Stable over restarts, and of this executor alone. */
  FORGE_NAME: z.string().min(1).max(128).default(`executor:${hostname()}`),
  /** With commas between. */
  FORGE_QUEUES: z.string().default("default").transform(names),
  /** `models`, `tools` (with functions), or both with a comma between: what is left out is another executor's. */
  FORGE_SERVES: z
    .string()
    .default("models,tools")
    .transform(names)
    .pipe(z.array(z.enum(["models", "tools"])).min(1)),
  /** What the built-in tools work on. */
  FORGE_WORKSPACE: z.string().min(1).default("."),
  /** The project's functions; unset: none are served. */
  FORGE_FUNCTIONS_DIR: z.string().min(1).optional(),
  /** Tasks at once. */
  FORGE_SLOTS: z.coerce.number().int().min(1).max(10_000).optional(),
  /** What runs gets so many seconds to finish at the end. */
  FORGE_DRAIN_SECONDS: z.coerce.number().min(0).max(3_600).default(30),
  /** Where it tells this machine that it is well, at /healthz; unset: nowhere. */
  FORGE_HEALTH_PORT: z.coerce.number().int().min(1).max(65_535).optional(),
  FORGE_LOG_LEVEL: z.enum(["debug", "info", "warn", "error"]).default("info"),
});

/** The executor's settings. */
export type Config = z.infer<typeof ConfigSchema>;

/** Reads the settings from an environment. Throws with the name of every variable that is wrong, never with a value. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const { data, error } = ConfigSchema.safeParse(environment);
  if (data !== undefined) return data;
  throw new Error(error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("\n"));
}
