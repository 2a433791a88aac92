import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { parseTemplate, templateReferences } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { AgentSpecSchema, BudgetSchema } from "@forge/protocol/session";
import { type AgentStep, AgentStepSchema } from "@forge/protocol/workflow";
import { checkKey, checkToolName, NAME_LENGTH_MAX } from "../definition/names.ts";
import { readIdentity, readSchemaVersion } from "../definition/read-identity.ts";
import { type YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import type { LoadedAgent } from "./agent-source.ts";
import type { PipelineStep } from "./pipeline-workflow.ts";
import { type PromptEntry, PromptLibrary, readPromptEntries } from "./prompt-library.ts";
import { type PipelineDraft, readPipeline } from "./read-pipeline.ts";
import { readStrategy } from "./read-strategy.ts";
import { readWords, type Words } from "./read-words.ts";

/** What the project's configuration says where an agent's file says nothing. */
export interface AgentDefaults {
  /** The file's name in errors. */
  readonly file: string;
  /** Where an agent names no model. */
  readonly model: string | undefined;
  /** Where a model names no provider. */
  readonly provider: string | undefined;
  /** Of the project; absent: none. */
  readonly prompts?: readonly PromptEntry[];
  /** Reads the file that an agent's `prompts_file` names. Throws ForgeError. Absent: there are none. */
  readonly promptsFile?: (path: string) => readonly PromptEntry[];
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
];
const LATER_KEYS = ["memory_injection"];
const TOOLS_MAX = 128;
const OUTPUT_TOKENS_MAX = 10_000_000;
const VARIANTS_MAX = 16;

/**
 * Reads an agent's YAML: its model, system prompt, prompt or pipeline, tools and strategy (`single` or `react`). Throws one ForgeError, reason
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

/** What all steps of an agent have in common. */
interface Common {
  readonly at: number;
  readonly defaults: AgentDefaults;
  readonly library: PromptLibrary;
  readonly identity: { readonly agentId: string; readonly agentVersion: string; readonly outputKey: string };
  readonly model: YamlEntry | undefined;
  readonly system: YamlEntry | undefined;
  readonly parameters: Pick<MessageInitShape<typeof AgentSpecSchema>, "tools" | "temperature" | "maxOutputTokens" | "budget">;
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
  const common: Common = {
    at,
    defaults,
    library,
    identity: { agentId: identity?.id ?? "", agentVersion: identity?.version ?? "", outputKey: outputKey?.text ?? "" },
    model: entries.get("model"),
    system: entries.get("system"),
    parameters: {
      ...readParameters(reader, entries),
      tools: strategy === "single" ? [] : tools,
      budget: create(BudgetSchema, { modelCalls: strategy === "single" || strategy === undefined ? 1 : strategy.modelCalls }),
    },
  };
  const before = new Set<string>();
  const pipeline: PipelineStep[] = [];
  for (const draft of drafts) {
    if (draft.type === "tool") pipeline.push({ id: draft.id, tool: draft.tool, inputs: draft.inputs });
    else {
      const model = readModelStep(reader, draft, common, drafts.length === 1 ? undefined : before);
      if (model !== undefined) pipeline.push({ id: draft.id, model });
    }
    before.add(draft.id);
  }
  const first = pipeline.find((step) => "model" in step);
  if (identity === undefined || strategy === undefined || reader.problems.any) return undefined;
  const agent = first?.model ?? create(AgentStepSchema, { agentId: identity.id, agentVersion: identity.version });
  const isPlain = pipeline.length === 1 && first !== undefined;
  return { agent, pipeline: isPlain ? [] : pipeline, warnings: reader.problems.warnings };
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

/** One model step; `before` are the ids of the steps before it in a pipeline of several. */
function readModelStep(
  reader: YamlReader,
  draft: Extract<PipelineDraft, { readonly type: "model" }>,
  common: Common,
  before: ReadonlySet<string> | undefined,
): AgentStep | undefined {
  const prompt = readWords(reader, draft.prompt, "prompt", common.library);
  const systemEntry = draft.system ?? common.system;
  const system = systemEntry && readWords(reader, systemEntry, "system", common.library);
  const model = readModel(reader, draft.model ?? common.model, common.at, common.defaults);
  if (prompt !== undefined) checkPrompt(reader, prompt, before);
  if (prompt === undefined || model === undefined) return undefined;
  const systems = system?.choices ?? [{ name: "", weight: 1, text: "" }];
  const variants = prompt.choices.flatMap((words) =>
    systems.map((role) => ({
      name: [role.name, words.name].filter((name) => name !== "").join(" + "),
      weight: words.weight * role.weight,
      prompt: words.text,
      system: role.text,
    })),
  );
  if (variants.length > VARIANTS_MAX)
    reader.problems.add(prompt.written.offset, `${variants.length} prompts to be tried beside each other; at most ${VARIANTS_MAX} are allowed`);
  return create(AgentStepSchema, {
    ...common.identity,
    agent: create(AgentSpecSchema, { ...common.parameters, model, system: systems[0]?.text }),
    prompt: prompt.choices[0]?.text,
    variants: variants.length > 1 ? variants : [],
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

function readTools(reader: YamlReader, entry: YamlEntry | undefined): string[] {
  const names = new Set<string>();
  for (const item of (entry && reader.list(entry.value, "tools")) ?? []) {
    const name = checkToolName(reader.problems, reader.text(item, "an item of tools", NAME_LENGTH_MAX));
    if (name !== undefined) names.add(name.text);
  }
  if (names.size > TOOLS_MAX) reader.problems.add(startOf(entry?.value), `${names.size} tools; at most ${TOOLS_MAX} are allowed`);
  return Array.from(names);
}

/** A prompt sees the step's inputs as `inputs`; a single one the run's state as `state`, one of several the steps before it by their ids. */
function checkPrompt(reader: YamlReader, { choices, written }: Words, before: ReadonlySet<string> | undefined): void {
  const names = ["inputs", ...(before ?? ["state"])];
  for (const { text, name } of choices) {
    // A prompt from elsewhere has no place in this file.
    const at = (position: number): number => (name === "" ? reader.source.offsetInScalar(written.node, position) : written.offset);
    const what = name === "" ? "prompt" : `prompt ${name}`;
    if (text.trim() === "") reader.problems.add(written.offset, `the ${what} is empty`);
    const template = parseTemplate(text);
    if (!template.ok) {
      reader.problems.add(at(template.error.position), `${what}: ${template.error.message}`);
      continue;
    }
    for (const { reference } of templateReferences(template.value)) {
      const root = reference[0];
      if (root !== undefined && !names.includes(root.name)) reader.problems.addUnknown(at(root.position), `name in the ${what}`, root.name, names);
    }
  }
}
