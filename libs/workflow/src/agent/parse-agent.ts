import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { AgentStepSchema } from "@forge/protocol/workflow";
import { isScalar } from "yaml";
import { checkKey, checkToolName, NAME_LENGTH_MAX } from "../definition/names.ts";
import { readIdentity, readSchemaVersion } from "../definition/read-identity.ts";
import type { SchemaSource } from "../definition/read-output-schema.ts";
import { type YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import type { LoadedAgent, SubAgentSource } from "./agent-source.ts";
import type { PipelineStep } from "./pipeline-workflow.ts";
import { type PromptEntry, PromptLibrary, readPromptEntries } from "./prompt-library.ts";
import { readLoop } from "./read-loop.ts";
import { type ModelDefaults, readFallbacks } from "./read-model.ts";
import { type Common, readModelStep } from "./read-model-step.ts";
import { type PipelineDraft, readPipeline } from "./read-pipeline.ts";
import { readStrategy } from "./read-strategy.ts";

/** What the project's configuration says where an agent's file says nothing. */
export interface AgentDefaults extends ModelDefaults {
  /** The file's name in errors. */
  readonly file: string;
  /** Of the project; absent: none. */
  readonly prompts?: readonly PromptEntry[];
  /** Reads the file that an agent's `prompts_file` names. Throws ForgeError. Absent: there are none. */
  readonly promptsFile?: (path: string) => readonly PromptEntry[];
  /** Finds the agents that its `sub_agents` name. Absent: there are none. */
  readonly agents?: SubAgentSource;
  /** Finds the file that its `output_schema` names. Absent: there is none. */
  readonly schemas?: SchemaSource;
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
  "prompts",
  "prompts_file",
  "pipeline",
  "strategy",
  "tools",
  "temperature",
  "max_tokens",
  "params",
  "output_key",
  "auto_tool_prompt",
  "hooks",
  "error_recovery",
  "fallback_models",
  "output_schema",
  "context_window",
  "sub_agents",
  "budget",
];
const LATER_KEYS = ["memory_injection"];
const TOOLS_MAX = 128;
/** The tools of that name are the agent's sub-agents. */
const SUB_AGENT_PREFIX = "agent.";
const OUTPUT_TOKENS_MAX = 10_000_000;

const NO_AGENTS: SubAgentSource = { find: () => ({ kind: "unknown", known: [], unreadable: [] }) };
const NO_SCHEMAS: SchemaSource = { text: () => ({ kind: "missing", message: "an agent outside of a project can name no file" }) };

/**
 * Reads an agent's YAML: its model, system prompt, prompt or pipeline, tools, strategy (`single` or `react`) and what is around its loop. Throws one ForgeError, reason
 * AGENT_VALIDATION: `validation` with every problem's file, line and column, or `unsupported` for what is right and not built.
 */
export function parseAgent(text: string, defaults: AgentDefaults): LoadedAgent {
  const reader = new YamlReader(text, defaults.file, AGENT_REASON);
  reader.problems.throwIfAny();
  const top = reader.mapping(reader.source.root, "the agent file");
  const entry = top?.get("agent");
  if (top !== undefined) {
    reader.checkKeys(top, "the agent file", ["schema_version", "agent", "prompts"]);
    readSchemaVersion(reader, top.get("schema_version"));
    if (entry === undefined) reader.problems.add(0, "no `agent`; expected a mapping with id, version, model and prompt");
  }
  const entries = entry && reader.mapping(entry.value, "agent");
  const agent = entries && build(reader, entries, top?.get("prompts"), entry.offset, defaults);
  reader.problems.throwIfAny();
  if (agent === undefined) throw new Error("an agent without problems has no definition");
  return agent;
}

function build(
  reader: YamlReader,
  entries: ReadonlyMap<string, YamlEntry>,
  prompts: YamlEntry | undefined,
  at: number,
  defaults: AgentDefaults,
): LoadedAgent | undefined {
  reader.checkKeys(entries, "agent", AGENT_KEYS, LATER_KEYS);
  const identity = readIdentity(reader, entries, "agent", at);
  const library = new PromptLibrary(ownPrompts(reader, entries, prompts, defaults), defaults.prompts ?? []);
  const strategy = readStrategy(reader, entries.get("strategy"));
  const tools = readTools(reader, entries.get("tools"));
  const drafts = readSteps(reader, entries, at, tools);
  if (strategy === "single" && tools.length > 0 && drafts.every(({ type }) => type === "model")) {
    reader.problems.warn(entries.get("tools")?.offset ?? at, "tools of an agent with strategy single are never called; use react");
  }
  const key = entries.get("output_key");
  const outputKey = key && checkKey(reader.problems, "output_key", reader.text(key.value, "output_key", NAME_LENGTH_MAX));
  const fallbacks = readFallbacks(reader, entries.get("fallback_models"), defaults);
  const sources = { agents: defaults.agents ?? NO_AGENTS, schemas: defaults.schemas ?? NO_SCHEMAS };
  const loop = readLoop(reader, entries, sources, { strategy, tools, fallbacks });
  const common: Common = {
    at,
    defaults,
    library,
    identity: { agentId: identity?.id ?? "", agentVersion: identity?.version ?? "", outputKey: outputKey?.text ?? "" },
    model: entries.get("model"),
    system: entries.get("system"),
    fallbacks,
    parameters: { ...readParameters(reader, entries), ...loop },
  };
  checkSchemaPlace(reader, entries.get("output_schema"), drafts);
  const before = new Set<string>();
  const pipeline: PipelineStep[] = [];
  for (const [index, draft] of drafts.entries()) {
    if (draft.type === "tool") pipeline.push({ id: draft.id, tool: draft.tool, inputs: draft.inputs });
    else {
      const isLast = index === drafts.length - 1;
      // The answers before the last one are its own notes.
      const parameters = isLast ? common.parameters : { ...common.parameters, outputSchemaJson: "" };
      const model = readModelStep(reader, draft, { ...common, parameters }, drafts.length === 1 ? undefined : before);
      if (model !== undefined) pipeline.push({ id: draft.id, model });
    }
    before.add(draft.id);
  }
  const first = pipeline.find((step) => "model" in step);
  if (identity === undefined || strategy === undefined || reader.problems.any) return undefined;
  const agent = first?.model ?? create(AgentStepSchema, { agentId: identity.id, agentVersion: identity.version });
  const isPlain = pipeline.length === 1 && first !== undefined;
  return { agent, pipeline: isPlain ? [] : pipeline, description: descriptionOf(reader, entries.get("description")), warnings: reader.problems.warnings };
}

/** Anything may stand there; only a text is of use. */
function descriptionOf(reader: YamlReader, entry: YamlEntry | undefined): string {
  const node = entry === undefined ? null : reader.resolve(entry.value);
  return isScalar(node) && typeof node.value === "string" ? node.value.replaceAll("\0", "").toWellFormed().trim() : "";
}

/** A tool has no answer that could be asked for again. */
function checkSchemaPlace(reader: YamlReader, entry: YamlEntry | undefined, drafts: readonly PipelineDraft[]): void {
  if (entry === undefined || drafts.at(-1)?.type !== "tool") return;
  reader.problems.add(entry.offset, "output_schema of an agent is what its last answer matches, and its pipeline ends with a tool; expected it at the step");
}

/** `prompt`, or a pipeline. */
function readSteps(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>, at: number, tools: readonly string[]): readonly PipelineDraft[] {
  const [prompt, pipeline] = [entries.get("prompt"), entries.get("pipeline")];
  if (prompt !== undefined && pipeline !== undefined) reader.problems.add(pipeline.offset, "prompt and pipeline; expected one of them");
  if (prompt !== undefined) return [{ type: "model", id: "main", offset: at, prompt, model: undefined, system: undefined }];
  if (pipeline !== undefined) return readPipeline(reader, pipeline, tools);
  reader.problems.add(at, "agent has no prompt; expected `prompt`, or a pipeline");
  return [];
}

/** Prompts that the agent brings itself: in its own list, in its file's, and in the file that it names. */
function ownPrompts(
  reader: YamlReader,
  entries: ReadonlyMap<string, YamlEntry>,
  top: YamlEntry | undefined,
  { promptsFile }: AgentDefaults,
): readonly PromptEntry[] {
  const [inline, file] = [entries.get("prompts"), entries.get("prompts_file")];
  const own = [inline, top].flatMap((entry) => (entry === undefined ? [] : readPromptEntries(reader, entry.value, "prompts")));
  const path = file && reader.text(file.value, "prompts_file", 1024);
  if (path === undefined) return own;
  try {
    return [...own, ...(promptsFile?.(path.text) ?? [])];
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    reader.problems.add(path.offset, `prompts_file: ${error.message}`);
    return own;
  }
}

/** The parameters of its model calls, as fields of the agent or among its `params`, which stand before them. */
function readParameters(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>): Pick<Common["parameters"], "temperature" | "maxOutputTokens"> {
  const given = entries.get("params");
  const params = (given && reader.mapping(given.value, "params")) ?? new Map<string, YamlEntry>();
  for (const [name, { offset }] of params) {
    if (name !== "temperature" && name !== "max_tokens")
      reader.problems.warn(offset, `the parameter \`${name}\` is not sent; only temperature and max_tokens are`);
  }
  const temperature = params.get("temperature") ?? entries.get("temperature");
  const maxTokens = params.get("max_tokens") ?? entries.get("max_tokens");
  return {
    temperature: temperature && reader.number(temperature.value, "temperature", 0, 2),
    maxOutputTokens: maxTokens && reader.number(maxTokens.value, "max_tokens", 1, OUTPUT_TOKENS_MAX, true),
  };
}

function readTools(reader: YamlReader, entry: YamlEntry | undefined): string[] {
  const names = new Set<string>();
  for (const item of (entry && reader.list(entry.value, "tools")) ?? []) {
    const name = checkToolName(reader.problems, reader.text(item, "an item of tools", NAME_LENGTH_MAX));
    if (name?.text.startsWith(SUB_AGENT_PREFIX)) reader.problems.add(name.offset, `tool \`${name.text}\` is a sub-agent's; expected it under sub_agents`);
    else if (name !== undefined) names.add(name.text);
  }
  if (names.size > TOOLS_MAX) reader.problems.add(startOf(entry?.value), `${names.size} tools; at most ${TOOLS_MAX} are allowed`);
  return Array.from(names);
}
