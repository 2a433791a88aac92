import { create } from "@bufbuild/protobuf";
import { parseTemplate, templateReferences } from "@forge/domain";
import { type AgentSpec, AgentSpecSchema, BudgetSchema } from "@forge/protocol/session";
import { AgentStepSchema } from "@forge/protocol/workflow";
import { checkToolName, NAME_LENGTH_MAX } from "../definition/names.ts";
import { readIdentity, readSchemaVersion } from "../definition/read-identity.ts";
import { type YamlEntry, YamlReader, type YamlText } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import type { LoadedAgent } from "./agent-source.ts";
import { readPrompt } from "./read-prompt.ts";
import { readStrategy } from "./read-strategy.ts";

/** What the project's configuration says where an agent's file says nothing. */
export interface AgentDefaults {
  /** The file's name in errors. */
  readonly file: string;
  /** Where an agent names no model. */
  readonly model: string | undefined;
  /** Where a model names no provider. */
  readonly provider: string | undefined;
}

/** Bytes of an agent's file; prompts are bounded by 64 Ki characters each. */
export const AGENT_BYTES_MAX = 1_048_576;

export const AGENT_REASON = "AGENT_VALIDATION";

/** The keys of an agent. */
export const AGENT_KEYS = [
  "id",
  "version",
  "description",
  "model",
  "system",
  "prompt",
  "pipeline",
  "strategy",
  "tools",
  "temperature",
  "max_tokens",
  "auto_tool_prompt",
];
const LATER_KEYS = ["memory_injection", "output_key", "params", "prompts", "prompts_file"];
const PROMPT_REFERENCE = /^prompts\.[\w.-]+(?:@\S+)?$/;
const SYSTEM_LENGTH_MAX = 65_536;
const TOOLS_MAX = 128;
const OUTPUT_TOKENS_MAX = 10_000_000;

/**
 * Reads an agent's YAML: its model, system prompt, prompt, tools and strategy. One prompt is supported, and the strategies `single` and `react`. Throws one
 * ForgeError, reason AGENT_VALIDATION: `validation` with every problem's file, line and column, or `unsupported` for what is right and not built.
 */
export function parseAgent(text: string, defaults: AgentDefaults): LoadedAgent {
  const reader = new YamlReader(text, defaults.file, AGENT_REASON);
  reader.problems.throwIfAny();
  const top = reader.mapping(reader.source.root, "the agent file");
  const entry = top?.get("agent");
  if (top !== undefined) {
    reader.checkKeys(top, "the agent file", ["schema_version", "agent"], ["prompts"]);
    readSchemaVersion(reader, top.get("schema_version"));
    if (entry === undefined) reader.problems.add(0, "no `agent`; expected a mapping with id, version, model and prompt");
  }
  const entries = entry && reader.mapping(entry.value, "agent");
  const agent = entries && build(reader, entries, entry.offset, defaults);
  reader.problems.throwIfAny();
  if (agent === undefined) throw new Error("an agent without problems has no definition");
  return agent;
}

function build(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>, at: number, defaults: AgentDefaults): LoadedAgent | undefined {
  reader.checkKeys(entries, "agent", AGENT_KEYS, LATER_KEYS);
  const identity = readIdentity(reader, entries, "agent", at);
  const prompt = readPrompt(reader, entries, at);
  if (prompt !== undefined) checkPrompt(reader, prompt.text);
  const agent = readSpec(reader, entries, at, defaults, prompt);
  if (identity === undefined || prompt === undefined || agent === undefined) return undefined;
  return {
    agent: create(AgentStepSchema, { agent, prompt: prompt.text.text, agentId: identity.id, agentVersion: identity.version }),
    warnings: reader.problems.warnings,
  };
}

function readSpec(
  reader: YamlReader,
  entries: ReadonlyMap<string, YamlEntry>,
  at: number,
  defaults: AgentDefaults,
  prompt: ReturnType<typeof readPrompt>,
): AgentSpec | undefined {
  const strategy = readStrategy(reader, entries.get("strategy"));
  const tools = readTools(reader, entries.get("tools"));
  if (strategy === "single" && tools.length > 0) {
    reader.problems.warn(entries.get("tools")?.offset ?? at, "tools of an agent with strategy single are never called; use react");
  }
  const model = readModel(reader, prompt?.model ?? entries.get("model"), at, defaults);
  const system = prompt?.system ?? entries.get("system");
  const [temperature, maxTokens] = [entries.get("temperature"), entries.get("max_tokens")];
  if (model === undefined || strategy === undefined) return undefined;
  return create(AgentSpecSchema, {
    model,
    system: system && readSystem(reader, system),
    tools: strategy === "single" ? [] : tools,
    temperature: temperature && reader.number(temperature.value, "temperature", 0, 2),
    maxOutputTokens: maxTokens && reader.number(maxTokens.value, "max_tokens", 1, OUTPUT_TOKENS_MAX, true),
    budget: create(BudgetSchema, { modelCalls: strategy === "single" ? 1 : strategy.modelCalls }),
  });
}

function readModel(reader: YamlReader, entry: YamlEntry | undefined, at: number, { model, provider }: AgentDefaults): string | undefined {
  const written = entry && reader.text(entry.value, "model", 256);
  if (entry !== undefined && written === undefined) return undefined;
  const name = written?.text ?? model;
  if (name === undefined) {
    reader.problems.add(at, "agent has no model; expected `model: provider/model`, or default_model in runtime.yaml");
    return undefined;
  }
  const full = name.includes("/") || provider === undefined ? name : `${provider}/${name}`;
  if (/^[!-.0-~]+\/[!-~]+$/.test(full)) return full;
  reader.problems.add(written?.offset ?? at, `model \`${name.slice(0, 80)}\` names no provider; expected provider/model, for example openai/gpt-5`);
  return undefined;
}

function readSystem(reader: YamlReader, entry: YamlEntry): string | undefined {
  const system = reader.text(entry.value, "system", SYSTEM_LENGTH_MAX);
  if (system !== undefined && PROMPT_REFERENCE.test(system.text)) {
    reader.problems.addUnsupported(system.offset, "a reference to the prompt registry is not supported yet; expected the text itself");
  }
  return system?.text;
}

function readTools(reader: YamlReader, entry: YamlEntry | undefined): string[] {
  const names = new Set<string>();
  for (const item of (entry && reader.list(entry.value, "tools")) ?? []) {
    const name = checkToolName(reader.problems, reader.text(item, "an item of tools", NAME_LENGTH_MAX));
    if (name !== undefined) names.add(name.text);
  }
  if (names.size > TOOLS_MAX) reader.problems.add(startOf(entry?.value), `${names.size} tools; at most ${TOOLS_MAX} are allowed`);
  return Array.from(names);
}

/** A prompt sees the step's inputs as `inputs` and the run's state as `state`. */
function checkPrompt(reader: YamlReader, prompt: YamlText): void {
  const at = (position: number): number => reader.source.offsetInScalar(prompt.node, position);
  const template = parseTemplate(prompt.text);
  if (!template.ok) {
    reader.problems.add(at(template.error.position), `prompt: ${template.error.message}`);
    return;
  }
  for (const { reference } of templateReferences(template.value)) {
    const root = reference[0];
    if (root !== undefined && !["inputs", "state"].includes(root.name))
      reader.problems.addUnknown(at(root.position), "name in the prompt", root.name, ["inputs", "state"]);
  }
}
