import { durationMs } from "@bufbuild/protobuf/wkt";
import { type AgentSpec, type Budget, ErrorRecoverySchema, type SubAgent, SubAgentHistorySchema } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { isStorable, isVisibleAscii, utf8Length } from "../text.ts";
import { validateHooks } from "./hooks/validate-hooks.ts";
import { outputSchemaProblem } from "./output-schema.ts";
import { invalid } from "./rejections.ts";
import { DEPTH_MAX, SUB_AGENT_PREFIX } from "./sub-agents/sub-agent.ts";

const TEXT_BYTES_MAX = 65_536;
const NAME_MAX = 128;
const MODEL_MAX = 256;
const TOOLS_MAX = 128;
const FALLBACKS_MAX = 3;
const SUB_AGENTS_MAX = 16;
const DESCRIPTION_MAX = 1_024;
const MODEL_CALLS_MAX = 1_000;
const TOOL_CALLS_MAX = 10_000;
const STEPS_MAX = 1_000;
/** A window in which not even a question fits is a mistake. */
const WINDOW_TOKENS_MIN = 256;
/** A month: longer waits are a workflow's, not a turn's. */
const DURATION_MS_MAX = 30 * 24 * 3_600_000;

/** The first thing wrong with an agent, with its field; undefined where all is well. `depth` counts the sub-agents that it is within. */
export function validateAgent(agent: AgentSpec, field: string, depth = 0): Rejected | undefined {
  return (
    validateModel(agent.model, `${field}.model`) ??
    validateText(agent, field) ??
    validateTools(agent, field) ??
    validateHooks(agent.hooks, `${field}.hooks`) ??
    validateFallbacks(agent, field) ??
    validateSubAgents(agent, field, depth) ??
    (agent.budget === undefined ? undefined : validateBudget(agent.budget, `${field}.budget`))
  );
}

function validateModel(model: string, field: string): Rejected | undefined {
  if (model.length <= MODEL_MAX && isVisibleAscii(model) && /^[^/]+\/.+$/.test(model)) return undefined;
  return invalid(field, `A model is named provider/model in at most ${MODEL_MAX} visible ASCII characters, for example openai/gpt-5.`);
}

function validateText(agent: AgentSpec, field: string): Rejected | undefined {
  if (!isStorable(agent.system) || utf8Length(agent.system) > TEXT_BYTES_MAX) {
    return invalid(`${field}.system`, "A system prompt has at most 64 KiB of text without NUL.");
  }
  if (agent.temperature !== undefined && !(agent.temperature >= 0 && agent.temperature <= 10)) {
    return invalid(`${field}.temperature`, "A temperature is a number from 0 to 10.");
  }
  if (agent.maxOutputTokens === 0) {
    return invalid(`${field}.max_output_tokens`, "At least one output token is needed; leave it out for the model's own bound.");
  }
  if (agent.contextWindowTokens !== undefined && agent.contextWindowTokens < WINDOW_TOKENS_MIN) {
    return invalid(`${field}.context_window_tokens`, `A context window has at least ${WINDOW_TOKENS_MIN} tokens; leave it out where you don't know it.`);
  }
  if (ErrorRecoverySchema.value[agent.errorRecovery] === undefined) {
    return invalid(`${field}.error_recovery`, "After an error the model is told, the turn stops, the call is retried, or a person is asked.");
  }
  const schema = outputSchemaProblem(agent);
  return schema === undefined ? undefined : invalid(`${field}.output_schema_json`, schema);
}

function validateTools(agent: AgentSpec, within: string): Rejected | undefined {
  if (agent.tools.length > TOOLS_MAX) return invalid(`${within}.tools`, `An agent may use at most ${TOOLS_MAX} tools.`);
  for (const [index, tool] of agent.tools.entries()) {
    const field = `${within}.tools[${index}]`;
    if (tool.length > NAME_MAX || !isVisibleAscii(tool)) return invalid(field, `A tool's name has 1 to ${NAME_MAX} visible ASCII characters.`);
    if (tool.startsWith(SUB_AGENT_PREFIX)) return invalid(field, `Names that begin with ${SUB_AGENT_PREFIX} are those of sub-agents: put it among sub_agents.`);
    if (agent.tools.indexOf(tool) !== index) return invalid(field, `Tool ${tool} is named twice.`);
  }
  return undefined;
}

function validateFallbacks({ model, fallbackModels }: AgentSpec, within: string): Rejected | undefined {
  if (fallbackModels.length > FALLBACKS_MAX) return invalid(`${within}.fallback_models`, `At most ${FALLBACKS_MAX} models stand in for another.`);
  for (const [index, fallback] of fallbackModels.entries()) {
    const field = `${within}.fallback_models[${index}]`;
    const wrong = validateModel(fallback, field);
    if (wrong !== undefined) return wrong;
    if (fallback === model || fallbackModels.indexOf(fallback) !== index) return invalid(field, `Model ${fallback} is named twice.`);
  }
  return undefined;
}

function validateSubAgents({ subAgents, tools }: AgentSpec, within: string, depth: number): Rejected | undefined {
  if (subAgents.length > SUB_AGENTS_MAX) return invalid(`${within}.sub_agents`, `At most ${SUB_AGENTS_MAX} sub-agents.`);
  if (subAgents.length > 0 && depth >= DEPTH_MAX) return invalid(`${within}.sub_agents`, `Sub-agents are at most ${DEPTH_MAX} deep.`);
  for (const [index, sub] of subAgents.entries()) {
    const field = `${within}.sub_agents[${index}]`;
    if (subAgents.findIndex(({ name }) => name === sub.name) !== index) return invalid(`${field}.name`, `Sub-agent ${sub.name} is named twice.`);
    const wrong = validateSubAgent(sub, tools, field, depth);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function validateSubAgent({ name, description, agent, history }: SubAgent, tools: readonly string[], field: string, depth: number): Rejected | undefined {
  if (!/^[a-z0-9_-]{1,64}$/.test(name)) return invalid(`${field}.name`, "A sub-agent's name has 1 to 64 lower-case letters, digits, _ and -.");
  if (description.length > DESCRIPTION_MAX || !isStorable(description)) {
    return invalid(`${field}.description`, `A description has at most ${DESCRIPTION_MAX} characters without NUL.`);
  }
  if (SubAgentHistorySchema.value[history] === undefined) return invalid(`${field}.history`, "A sub-agent's history is fresh, forked or shared.");
  if (agent === undefined) return invalid(`${field}.agent`, "An agent is needed: at least its model.");
  const beyond = agent.tools.find((tool) => !tools.includes(tool));
  if (beyond !== undefined) return invalid(`${field}.agent.tools`, `A sub-agent has no tool that its caller has not: ${beyond}.`);
  return validateAgent(agent, `${field}.agent`, depth + 1);
}

function validateBudget(budget: Budget, field: string): Rejected | undefined {
  if ((budget.modelCalls ?? 0) > MODEL_CALLS_MAX) return invalid(`${field}.model_calls`, `At most ${MODEL_CALLS_MAX} model calls.`);
  if ((budget.toolCalls ?? 0) > TOOL_CALLS_MAX) return invalid(`${field}.tool_calls`, `At most ${TOOL_CALLS_MAX} tool calls.`);
  if ((budget.steps ?? 0) > STEPS_MAX) return invalid(`${field}.steps`, `At most ${STEPS_MAX} steps.`);
  if (budget.wallTime !== undefined && !isDurationInRange(durationMs(budget.wallTime))) {
    return invalid(`${field}.wall_time`, "A wall time is more than nothing and at most 30 days.");
  }
  return undefined;
}

function isDurationInRange(ms: number): boolean {
  return ms > 0 && ms <= DURATION_MS_MAX;
}
