import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import type { AgentSpecSchema, BudgetSchema, HookSpec } from "@forge/protocol/session";
import { ToolMode } from "@forge/protocol/tool";
import type { AgentOptions, ModeName } from "./agent-options.ts";
import { CODING_SYSTEM, CODING_TOOLS } from "./coding-agent.ts";

/** The agent that they stand for. */
export function agentOf(
  options: AgentOptions,
  { model, outputSchemaJson, hooks }: { readonly model: string; readonly outputSchemaJson?: string; readonly hooks: HookSpec[] },
) {
  return {
    model,
    system: options.system ?? CODING_SYSTEM,
    tools: [...(options.tool ?? CODING_TOOLS)],
    budget: budgetOf(options),
    fallbackModels: [...(options.fallbackModel ?? [])],
    outputSchemaJson,
    hooks,
  } satisfies MessageInitShape<typeof AgentSpecSchema>;
}

function budgetOf({ maxCost, maxSteps, maxTokens, deadline }: AgentOptions): MessageInitShape<typeof BudgetSchema> | undefined {
  if (maxCost === undefined && maxSteps === undefined && maxTokens === undefined && deadline === undefined) return undefined;
  return {
    costMicroUsd: maxCost === undefined ? undefined : BigInt(Math.round(maxCost * 1_000_000)),
    steps: maxSteps,
    // Each step has at most one model call.
    modelCalls: maxSteps,
    tokens: maxTokens === undefined ? undefined : BigInt(maxTokens),
    wallTime: deadline === undefined ? undefined : durationFromMs(deadline),
  };
}

/** The mode that a name stands for; ACT where none was named. */
export function modeOf(name: ModeName | undefined): ToolMode {
  return ToolMode[name ?? "ACT"];
}

/** What is fixed once a session is made. Errors: validation. */
export function refuseAgentOptions(options: AgentOptions, sessionId: string): void {
  const names: Readonly<Record<Exclude<keyof AgentOptions, "mode" | "deadline">, string>> = {
    model: "--model",
    tool: "--tool",
    system: "--system",
    maxCost: "--max-cost",
    maxSteps: "--max-steps",
    maxTokens: "--max-tokens",
    fallbackModel: "--fallback-model",
  };
  for (const [key, name] of Object.entries(names))
    if (options[key as keyof AgentOptions] !== undefined)
      throw ForgeError.validation(key, `${name} is for new sessions, and the agent of ${sessionId} is what it is: leave it out, or fork the session`);
}
