import { OverwritePolicy } from "@forge/protocol/workflow";
import type { RuntimeConfig } from "./config-schema.ts";

const POLICIES = { warn: OverwritePolicy.WARN, strict: OverwritePolicy.STRICT, allow: OverwritePolicy.ALLOW } as const;

/** What a project's configuration says of outputs that take the place of others, as a run's start takes it. */
export function overwritePolicy(config: Pick<RuntimeConfig, "overwrite_policy">): OverwritePolicy {
  return POLICIES[config.overwrite_policy];
}
