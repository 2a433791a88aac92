import { z } from "zod";

const directory = (fallback: string) => z.string().min(1).max(1024).default(fallback);
const duration = z.union([z.number().positive(), z.string().regex(/^\d{1,9}(\.\d{1,6})?\s*(ms|s|m|h|d)$/, "expected a duration such as 30s, 5m, 24h")]);
const decision = z.enum(["allow", "ask", "deny"]);
const positive = z.number().int().positive();

const policy = z.strictObject({
  /** Tried in order; the first whose tool (a name, or a prefix with `*` at its end) matches decides. */
  rules: z
    .array(
      z.strictObject({
        tool: z
          .string()
          .regex(/^[A-Za-z0-9_.-]*\*?$/, "expected a tool's name, or a prefix with * at its end")
          .min(1)
          .max(128),
        decision,
      }),
    )
    .max(256)
    .default([]),
  /** Where no rule matches; absent: reading is allowed, everything else is asked. */
  default: decision.optional(),
  /** How long an approval waits before it expires as denied. */
  approval_ttl: duration.optional(),
});

const provider = z.looseObject({
  /** The environment variable that holds the key; the key itself never stands in a file. */
  api_key_env: z.string().max(256).optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  models: z.record(z.string(), z.looseObject({ temperature: z.number().min(0).max(2).optional(), max_tokens: positive.optional() })).optional(),
});

const limits = z.looseObject({
  rate_limit_rpm: z.number().min(0).optional(),
  max_requests_per_run: z.number().min(0).optional(),
  max_total_tokens_per_run: z.number().min(0).optional(),
  max_cost_usd_per_run: z.number().min(0).optional(),
  pricing_usd_per_1k_tokens: z.record(z.string(), z.looseObject({})).optional(),
});

/** Matched against the whole name of a program, as in `git|npm`. */
const programPattern = z.string().min(1).max(1024).refine(compiles, "expected a regular expression");
const hosts = z.array(z.string().min(1).max(256)).max(256);
const paths = z.array(z.string().startsWith("/").max(4096)).max(64);
const programs = z.array(programPattern).max(256);

function compiles(pattern: string): boolean {
  try {
    new RegExp(`^(?:${pattern})$`);
    return true;
  } catch {
    // The parser says no by throwing.
    return false;
  }
}

/** `runtime.yaml`: every field, its bounds and its default. */
export const RuntimeConfigSchema = z.strictObject({
  schema_version: z.enum(["v1"]).default("v1"),
  workflows_dir: directory("workflows"),
  agents_dir: directory("agents"),
  functions_dir: directory("functions"),
  tools_dir: directory("tools"),
  prompts_dir: directory("prompts"),
  /** The data directory, or a database URL; absent: `.forge/data`. */
  db_path: z.string().min(1).max(4096).optional(),
  /** What a reference to the project's directory runs; absent: its only workflow. */
  default_workflow: z.string().max(256).optional(),
  /** Where an agent names no model. */
  default_model: z.string().max(256).optional(),
  /** Where a model names no provider. */
  default_llm_provider: z.string().max(128).optional(),
  llm: z
    .strictObject({
      default_provider: z.string().max(128).optional(),
      providers: z.record(z.string(), provider).default({}),
      limits: limits.optional(),
    })
    .prefault({}),
  policy: policy.prefault({}),
  logging: z
    .strictObject({ level: z.enum(["debug", "info", "warning", "warn", "error"]).default("info"), format: z.enum(["json", "text"]).default("json") })
    .prefault({}),
  overwrite_policy: z.enum(["warn", "strict", "allow"]).default("warn"),
  working_memory_max_entries: positive.default(50),
  working_memory_max_scratch_bytes: positive.default(256_000),
  episodic_max_summary_bytes: positive.default(512),
  /** What becomes of runs that have ended. */
  retention: z
    .strictObject({
      /** A run is archived so long after its end; absent: none is. */
      archive_after: duration.optional(),
    })
    .prefault({}),
  /** Programs that tools.shell may run; none: all. */
  shell_allowlist: programs.default([]),
  /** Programs that tools.shell may not run; looked at first. */
  shell_denylist: programs.default([]),
  /** What commands of tools run in. */
  sandbox: z
    .strictObject({
      /** Refuse to run without it, run without where it does not work, or never use it. */
      policy: z.enum(["required", "preferred", "off"]).default("preferred"),
      /** Hosts that every command reaches; none: no network but what a call asks for. */
      network: hosts.default([]),
      /** Shown to commands, though they lie in a home or another hidden place. */
      readable: paths.default([]),
      writable: paths.default([]),
    })
    .prefault({}),
  /** What tools.http may ask. */
  http: z
    .strictObject({
      /** Absent: every host of the public internet. */
      allow: hosts.optional(),
      deny: hosts.default([]),
      /** The hosts that a secret may be sent to, by its name. */
      secret_hosts: z.record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), hosts).default({}),
    })
    .prefault({}),
  /** The servers of `.mcp.json`. */
  mcp: z
    .strictObject({
      /** Variables of the environment that it may use as `${NAME}`: names, or prefixes with `*` at their end. */
      variables: z
        .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}\*?$/, "expected a variable's name, or a prefix with * at its end"))
        .max(64)
        .default([]),
    })
    .prefault({}),
  /** A strategy of one's own for agents, as `module.name`. */
  custom_handler: z.string().max(256).optional(),
  /** Other ways to write fields from above. */
  shell: z.strictObject({ allowlist: programs.optional(), denylist: programs.optional() }).optional(),
  memory: z
    .strictObject({
      working: z.strictObject({ max_entries: positive.optional(), max_scratch_bytes: positive.optional() }).optional(),
      episodic: z.strictObject({ max_summary_bytes: positive.optional() }).optional(),
    })
    .optional(),
  llm_limits: limits.optional(),
  /** A model's settings as they were written before there were providers. */
  model: z.looseObject({}).optional(),
});

/** A project's configuration, defaults filled in. */
export type RuntimeConfig = z.infer<typeof RuntimeConfigSchema>;
