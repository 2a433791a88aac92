import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { parseTemplate, templateReferences } from "@forge/domain";
import { AgentSpecSchema } from "@forge/protocol/session";
import { type AgentStep, AgentStepSchema } from "@forge/protocol/workflow";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import type { PromptLibrary } from "./prompt-library.ts";
import { parametersOf } from "./provider-models.ts";
import { checkFallbacks, type FallbackModel, type ModelDefaults, readModel } from "./read-model.ts";
import type { PipelineDraft } from "./read-pipeline.ts";
import { readWords, type Words } from "./read-words.ts";

const VARIANTS_MAX = 16;
const SYSTEM_BYTES_MAX = 65_536;

type AgentInit = Exclude<MessageInitShape<typeof AgentSpecSchema>, { readonly $typeName: string }>;

/** What all model steps of an agent have in common. */
export interface Common {
  /** The agent's place. */
  readonly at: number;
  readonly defaults: ModelDefaults;
  readonly library: PromptLibrary;
  readonly identity: { readonly agentId: string; readonly agentVersion: string; readonly outputKey: string };
  readonly model: YamlEntry | undefined;
  readonly system: YamlEntry | undefined;
  readonly fallbacks: readonly FallbackModel[];
  readonly parameters: AgentInit;
}

/** One model step; `before` are the ids of the steps before it in a pipeline of several. */
export function readModelStep(
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
  if (model !== undefined) checkFallbacks(reader, model, common.fallbacks);
  if (system !== undefined && system.choices.some(({ text }) => Buffer.byteLength(text) > SYSTEM_BYTES_MAX))
    reader.problems.add(system.written.offset, `system has more than ${SYSTEM_BYTES_MAX} bytes of UTF-8, which no agent takes`);
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
  const { temperature, maxOutputTokens } = parametersOf(common.defaults.providers ?? {}, model);
  const parameters = {
    ...common.parameters,
    temperature: common.parameters.temperature ?? temperature,
    maxOutputTokens: common.parameters.maxOutputTokens ?? maxOutputTokens,
  };
  return create(AgentStepSchema, {
    ...common.identity,
    agent: create(AgentSpecSchema, { ...parameters, model, system: systems[0]?.text }),
    prompt: prompt.choices[0]?.text,
    variants: variants.length > 1 ? variants : [],
  });
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
