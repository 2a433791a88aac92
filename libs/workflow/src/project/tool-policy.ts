import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Decision, type ToolPolicy, ToolPolicySchema, ToolRuleSchema } from "@forge/protocol/tool";
import { durationMs } from "../definition/read-duration.ts";
import type { RuntimeConfig } from "./config-schema.ts";

const DECISIONS = { allow: Decision.ALLOW, ask: Decision.ASK, deny: Decision.DENY } as const;

/** What a project's configuration says of tools, as the gate takes it. */
export function toolPolicy({ policy }: RuntimeConfig): ToolPolicy {
  const ttl = policy.approval_ttl;
  return create(ToolPolicySchema, {
    rules: policy.rules.map(({ tool, decision }) => create(ToolRuleSchema, { tool, decision: DECISIONS[decision] })),
    defaultDecision: policy.default && DECISIONS[policy.default],
    approvalTtl: ttl === undefined ? undefined : durationFromMs(durationMs(ttl) as number),
  });
}
