import type { JsonValue } from "@bufbuild/protobuf";
import type { RuntimeConfig } from "./config-schema.ts";

/** Fields that may be written in two ways: the name that they are known by, and the other one. The first counts where both are written. */
export const ALIASES: readonly (readonly [field: string, alias: string])[] = [
  ["working_memory_max_entries", "memory.working.max_entries"],
  ["working_memory_max_scratch_bytes", "memory.working.max_scratch_bytes"],
  ["episodic_max_summary_bytes", "memory.episodic.max_summary_bytes"],
  ["shell_allowlist", "shell.allowlist"],
  ["shell_denylist", "shell.denylist"],
  ["llm.limits", "llm_limits"],
];

/** The configuration with each field under the name that it is known by; `written` is what the files say. */
export function withoutAliases({ shell, memory, llm_limits, model, ...config }: RuntimeConfig, written: JsonValue): RuntimeConfig {
  const isWritten = (field: string): boolean => at(written, field) !== undefined;
  const { working, episodic } = memory ?? {};
  return {
    ...config,
    ...(model === undefined ? {} : { model }),
    working_memory_max_entries: pick(isWritten("working_memory_max_entries"), config.working_memory_max_entries, working?.max_entries),
    working_memory_max_scratch_bytes: pick(isWritten("working_memory_max_scratch_bytes"), config.working_memory_max_scratch_bytes, working?.max_scratch_bytes),
    episodic_max_summary_bytes: pick(isWritten("episodic_max_summary_bytes"), config.episodic_max_summary_bytes, episodic?.max_summary_bytes),
    shell_allowlist: pick(isWritten("shell_allowlist"), config.shell_allowlist, shell?.allowlist),
    shell_denylist: pick(isWritten("shell_denylist"), config.shell_denylist, shell?.denylist),
    llm: { ...config.llm, limits: pick(isWritten("llm.limits"), config.llm.limits, llm_limits) },
  };
}

/** The value at a dotted path; undefined where there is none. */
export function at(value: JsonValue | undefined, field: string): JsonValue | undefined {
  let inner: JsonValue | undefined = value;
  for (const key of field.split(".")) {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner) || !Object.hasOwn(inner, key)) return undefined;
    inner = inner[key];
  }
  return inner;
}

function pick<T>(isWritten: boolean, value: T, alias: NoInfer<T> | undefined): T {
  return isWritten || alias === undefined ? value : alias;
}
