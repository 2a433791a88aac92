import type { Outcome } from "@forge/worker";
import type { Invocation, Layer } from "./tool-layer.ts";
import { toolTask } from "./tool-task.ts";

/** A call as a policy sees it. */
export interface PolicyCall {
  readonly tool: string;
  /** They match the tool's schema. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly sessionId: string;
  readonly runId: string;
}

/** A host's own word on calls, beside the control plane's gate, which has decided before. */
export interface ToolPolicy {
  /** Throws a ForgeError to refuse the call, which then has not begun. */
  beforeCall?(call: PolicyCall): void | Promise<void>;
  /** May answer with another outcome. Not called where the call failed by throwing. */
  afterCall?(call: PolicyCall, outcome: Outcome): Outcome | Promise<Outcome>;
}

/** A policy as a layer of a tool's pipeline. */
export function policyLayer(policy: ToolPolicy): Layer {
  return (next) => async (invocation) => {
    const call = policyCall(invocation);
    await policy.beforeCall?.(call);
    const outcome = await next(invocation);
    return policy.afterCall === undefined ? outcome : policy.afterCall(call, outcome);
  };
}

function policyCall({ context, args }: Invocation): PolicyCall {
  const { tool, sessionId, runId } = toolTask(context);
  return { tool, args, sessionId, runId };
}
