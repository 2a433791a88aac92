import { create } from "@bufbuild/protobuf";
import { Decision, type ToolPolicy, ToolPolicySchema } from "@forge/protocol/tool";
import { openProject, toolPolicy } from "@forge/workflow/project";
import { mayRunCode } from "./workspace-trust.ts";

/** What a project's configuration says of new sessions. */
export interface ProjectDefaults {
  readonly policy: ToolPolicy;
  readonly model?: string;
}

/** The project's defaults; where nobody has trusted it, only what it denies counts: nothing that a repository brings opens the gate, or chooses who is told what is in it. */
export async function projectDefaults(environment: NodeJS.ProcessEnv, root: string): Promise<ProjectDefaults> {
  const { config } = await openProject(root);
  const policy = toolPolicy(config);
  return (await mayRunCode(environment, root)) ? { policy, model: config.default_model } : { policy: denialsOf(policy) };
}

function denialsOf({ rules, defaultDecision }: ToolPolicy): ToolPolicy {
  return create(ToolPolicySchema, {
    rules: rules.filter(({ decision }) => decision === Decision.DENY),
    defaultDecision: defaultDecision === Decision.DENY ? defaultDecision : undefined,
  });
}
