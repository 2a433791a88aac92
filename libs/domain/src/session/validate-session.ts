import { durationMs } from "@bufbuild/protobuf/wkt";
import type { AgentSpec, Budget, CreateSessionRequest } from "@forge/protocol/session";
import type { ToolPolicy } from "@forge/protocol/tool";
import type { Rejected } from "../decider.ts";
import { isStorable, isVisibleAscii, utf8Length } from "../text.ts";
import { policyProblem } from "../tool-policy.ts";
import { invalid } from "./rejections.ts";

const TEXT_BYTES_MAX = 65_536;
const NAME_MAX = 128;
const LABELS_MAX = 32;
const MODEL_MAX = 256;
const TITLE_MAX = 256;
const TOOLS_MAX = 128;
const MODEL_CALLS_MAX = 1_000;
const TOOL_CALLS_MAX = 10_000;
/** A month: longer waits are a workflow's, not a turn's. */
const DURATION_MS_MAX = 30 * 24 * 3_600_000;

/** The first thing wrong with a request for a session, with its field; undefined where all is well. */
export function validateSession(request: CreateSessionRequest): Rejected | undefined {
  if (request.agent === undefined) return invalid("agent", "An agent is needed: at least its model.");
  return (
    validateAgent(request.agent) ??
    (request.policy === undefined ? undefined : validatePolicy(request.policy)) ??
    validateLabels(request.labels) ??
    validateQueue(request.queue) ??
    validateTitle(request.title) ??
    validateParent(request.parent)
  );
}

function validateAgent(agent: AgentSpec): Rejected | undefined {
  if (agent.model.length > MODEL_MAX || !isVisibleAscii(agent.model) || !/^[^/]+\/.+$/.test(agent.model)) {
    return invalid("agent.model", `A model is named provider/model in at most ${MODEL_MAX} visible ASCII characters, for example openai/gpt-5.`);
  }
  if (!isStorable(agent.system) || utf8Length(agent.system) > TEXT_BYTES_MAX) {
    return invalid("agent.system", "A system prompt has at most 64 KiB of text without NUL.");
  }
  if (agent.tools.length > TOOLS_MAX) return invalid("agent.tools", `An agent may use at most ${TOOLS_MAX} tools.`);
  for (const [index, tool] of agent.tools.entries()) {
    const field = `agent.tools[${index}]`;
    if (tool.length > NAME_MAX || !isVisibleAscii(tool)) return invalid(field, `A tool's name has 1 to ${NAME_MAX} visible ASCII characters.`);
    if (agent.tools.indexOf(tool) !== index) return invalid(field, `Tool ${tool} is named twice.`);
  }
  if (agent.temperature !== undefined && !(agent.temperature >= 0 && agent.temperature <= 10)) {
    return invalid("agent.temperature", "A temperature is a number from 0 to 10.");
  }
  if (agent.maxOutputTokens === 0) return invalid("agent.max_output_tokens", "At least one output token is needed; leave it out for the model's own bound.");
  return agent.budget === undefined ? undefined : validateBudget(agent.budget);
}

function validateBudget(budget: Budget): Rejected | undefined {
  if ((budget.modelCalls ?? 0) > MODEL_CALLS_MAX) return invalid("agent.budget.model_calls", `At most ${MODEL_CALLS_MAX} model calls.`);
  if ((budget.toolCalls ?? 0) > TOOL_CALLS_MAX) return invalid("agent.budget.tool_calls", `At most ${TOOL_CALLS_MAX} tool calls.`);
  if (budget.wallTime !== undefined && !isDurationInRange(durationMs(budget.wallTime))) {
    return invalid("agent.budget.wall_time", "A wall time is more than nothing and at most 30 days.");
  }
  return undefined;
}

/** The first thing wrong with a policy, with its field; undefined where all is well. */
export function validatePolicy(policy: ToolPolicy): Rejected | undefined {
  const problem = policyProblem(policy);
  return problem === undefined ? undefined : invalid(problem.field, problem.message);
}

export function validateLabels(labels: Readonly<Record<string, string>>): Rejected | undefined {
  const entries = Object.entries(labels);
  if (entries.length > LABELS_MAX) return invalid("labels", `At most ${LABELS_MAX} labels.`);
  for (const [key, value] of entries) {
    if (key === "" || key.length > NAME_MAX || value.length > NAME_MAX || !isStorable(key) || !isStorable(value)) {
      return invalid("labels", `A label's key has 1 to ${NAME_MAX} characters, its value at most ${NAME_MAX}, neither with NUL.`);
    }
  }
  return undefined;
}

function validateQueue(queue: string): Rejected | undefined {
  if (queue === "" || (queue.length <= NAME_MAX && isVisibleAscii(queue))) return undefined;
  return invalid("queue", `A queue's name has at most ${NAME_MAX} visible ASCII characters.`);
}

export function validateTitle(title: string): Rejected | undefined {
  return title.length <= TITLE_MAX && isStorable(title) ? undefined : invalid("title", `A title has at most ${TITLE_MAX} characters without NUL.`);
}

function validateParent(parent: CreateSessionRequest["parent"]): Rejected | undefined {
  if (parent === undefined || (parent.runId !== "" && parent.stepId !== "")) return undefined;
  return invalid("parent", "A parent names both its run and its step.");
}

function isDurationInRange(ms: number): boolean {
  return ms > 0 && ms <= DURATION_MS_MAX;
}
