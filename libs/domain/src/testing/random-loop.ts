import { create } from "@bufbuild/protobuf";
import { ReportTurnEndSchema } from "@forge/protocol/engine";
import { HookAt, Role, SubAgentHistory, TurnOutcome, TurnStatus } from "@forge/protocol/session";
import type { HookTask } from "@forge/protocol/worker";
import type { SessionCommand } from "../session/session-command.ts";
import type { TaskSettled } from "../task.ts";
import { edited, READ, type SessionInit, type SessionStream, textPart } from "./session-fixture.ts";

/** What the loop of an agent may have beside its tools, for random sessions. */

const TOOL_NAMES = ["tools.ask", "tools.update_plan", "tools.auto_continue"];

/** Hooks at every point, twice over where they may be, of workers and of the control plane's own. */
const HOOKS = [
  { name: "guard", at: [HookAt.USER_MESSAGE, HookAt.POST_LLM] },
  { name: "forge.reminder", at: [HookAt.PRE_LLM], configJson: '{"text":"Be brief.","every_model_calls":2}' },
  { name: "forge.reflexion", at: [HookAt.PRE_LLM], configJson: '{"after_failures":1}' },
  { name: "memory", at: [HookAt.PRE_LLM, HookAt.USER_MESSAGE] },
  { name: "forge.tool_enforcement", at: [HookAt.POST_LLM], configJson: '{"max_nudges":1}' },
];

export const HOOK_CAPABILITIES = ["hook:guard", "hook:memory"];

/** Agents with hooks, small windows, models that stand in for others, schemas, and agents of their own. */
export function loopAgents(tools: readonly string[]): NonNullable<SessionInit["agent"]>[] {
  const own = [...tools, ...TOOL_NAMES];
  const subAgents = [
    { name: "one", agent: { model: "demo/s", tools: [READ.name] } },
    { name: "two", agent: { model: "demo/s" }, history: SubAgentHistory.FORKED },
  ];
  return [
    { model: "demo/a", tools: own, hooks: HOOKS },
    { model: "demo/a", tools: own, contextWindowTokens: 256, fallbackModels: ["demo/b"] },
    { model: "demo/a", tools: own, subAgents, fallbackModels: ["demo/b", "demo/c"], contextWindowTokens: 400 },
    { model: "demo/a", tools: own, subAgents, hooks: HOOKS, budget: { steps: 6 } },
    { model: "demo/a", tools: own, outputSchemaJson: '{"type":"string"}', hooks: [{ name: "nobody", at: [HookAt.POST_LLM] }] },
  ];
}

/** What the model calls beside workers' tools. */
export const LOOP_CALLS = ["tools.update_plan", "tools.auto_continue", "agent.one", "agent.two"];

/** A hook's answer: mostly edits that its point allows, now and then some that can't be made. */
export function hookOutcome(stream: SessionStream, { at }: HookTask, pick: number, text: string): TaskSettled["outcome"] {
  const message = {
    case: "addMessage" as const,
    value: { role: pick % 2 === 0 ? Role.USER : Role.SYSTEM, ephemeral: pick % 3 === 0, parts: [textPart("Mind this.")] },
  };
  const replaced = { case: "replaceText" as const, value: text };
  const call = stream.state.turn?.hooks.answer?.calls[0]?.toolCallId ?? "";
  const denied = call === "" ? [] : [{ case: "denyCall" as const, value: { toolCallId: call, reason: "No." } }];
  switch (pick % 24) {
    case 6:
    case 7:
    case 8:
    case 0:
      return edited([]);
    case 1:
      return edited([message]);
    case 2:
      return edited(at === HookAt.PRE_LLM ? [message, message] : [replaced, message]);
    case 3:
      return edited(at === HookAt.POST_LLM ? [{ case: "goOn", value: true }, ...denied] : [message]);
    case 4:
      return edited(at === HookAt.POST_LLM ? [message, ...denied] : [{ case: "block", value: "Stop." }]);
    case 5:
      return edited([{ case: "replaceText", value: "\ud800" }]);
    default:
      return edited([message]);
  }
}

/** A sub-agent's session tells of its turn's end; undefined where none is waited for. */
export function childEnd(stream: SessionStream, pick: number): SessionCommand | undefined {
  const calls = (stream.state.turn?.toolCalls ?? []).filter(({ isChild, started }) => isChild && started);
  const toolCallId = calls[pick % Math.max(1, calls.length)]?.toolCallId;
  if (toolCallId === undefined) return undefined;
  const ends = [
    { status: TurnStatus.COMPLETED, outcome: TurnOutcome.TASK_COMPLETED },
    { status: TurnStatus.COMPLETED, outcome: TurnOutcome.BUDGET_TOKENS },
    { status: TurnStatus.CANCELLED, outcome: TurnOutcome.CANCELLED },
    { status: TurnStatus.ABANDONED, outcome: TurnOutcome.UNKNOWN },
  ];
  const usage = { inputTokens: 5n, outputTokens: 5n, cachedInputTokens: 0n, reasoningTokens: 0n };
  return create(ReportTurnEndSchema, {
    toolCallId,
    sessionId: toolCallId,
    text: { kind: { case: "json", value: '"ok"' } },
    usage,
    ...ends[pick % ends.length],
  });
}
