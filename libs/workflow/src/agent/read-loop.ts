import type { MessageInitShape } from "@bufbuild/protobuf";
import { type AgentSpecSchema, ErrorRecovery, type SubAgent } from "@forge/protocol/session";
import { readOutputSchema, type SchemaSource } from "../definition/read-output-schema.ts";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import type { SubAgentSource } from "./agent-source.ts";
import { readBudget } from "./read-budget.ts";
import { readHooks } from "./read-hooks.ts";
import type { FallbackModel } from "./read-model.ts";
import type { Strategy } from "./read-strategy.ts";
import { readSubAgents } from "./read-sub-agents.ts";

const OUTPUT_SCHEMA_BYTES_MAX = 16_384;
/** A window in which not even a question fits is a mistake. */
const WINDOW_TOKENS_MIN = 256;
const WINDOW_TOKENS_MAX = 1_000_000_000;

const RECOVERIES: Readonly<Record<string, ErrorRecovery>> = {
  return: ErrorRecovery.RETURN,
  stop: ErrorRecovery.STOP,
  retry: ErrorRecovery.RETRY,
  ask: ErrorRecovery.ASK,
};

export const ERROR_RECOVERIES = Object.keys(RECOVERIES);

/** Where the loop's parts find what they name. */
interface LoopSources {
  readonly agents: SubAgentSource;
  readonly schemas: SchemaSource;
}

/** What the loop's parts need to know of the rest of the agent. */
interface LoopRest {
  readonly strategy: Strategy | undefined;
  readonly tools: readonly string[];
  readonly fallbacks: readonly FallbackModel[];
}

type Loop = Pick<
  Exclude<MessageInitShape<typeof AgentSpecSchema>, { readonly $typeName: string }>,
  "tools" | "budget" | "hooks" | "errorRecovery" | "fallbackModels" | "outputSchemaJson" | "contextWindowTokens" | "subAgents"
>;

/** How the agent's model calls follow each other, and what is around them. */
export function readLoop(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>, sources: LoopSources, rest: LoopRest): Loop {
  const { strategy, tools, fallbacks } = rest;
  const [recovery, schema, window] = ["error_recovery", "output_schema", "context_window"].map((key) => entries.get(key));
  const word = recovery && reader.choice(recovery.value, "error_recovery", ERROR_RECOVERIES);
  const outputSchemaJson = schema === undefined ? "" : readOutputSchema(reader, schema.value, sources.schemas, OUTPUT_SCHEMA_BYTES_MAX);
  // An answer that does not match is asked for once more, and a fallback stands in for a call that failed.
  const repeats = fallbacks.length + (schema === undefined ? 0 : 1);
  return {
    tools: strategy === "single" ? [] : [...tools],
    hooks: readHooks(reader, entries.get("hooks")),
    errorRecovery: word === undefined ? ErrorRecovery.UNSPECIFIED : RECOVERIES[word],
    fallbackModels: fallbacks.map(({ model }) => model),
    outputSchemaJson,
    contextWindowTokens: window && reader.number(window.value, "context_window (tokens)", WINDOW_TOKENS_MIN, WINDOW_TOKENS_MAX, true),
    subAgents: readCalled(reader, entries.get("sub_agents"), sources.agents, rest),
    budget: readBudget(reader, entries.get("budget"), strategy, repeats),
  };
}

/** A single call has nobody to call. */
function readCalled(reader: YamlReader, entry: YamlEntry | undefined, agents: SubAgentSource, { strategy, tools }: LoopRest): SubAgent[] {
  const found = readSubAgents(reader, entry, tools, agents);
  if (entry === undefined || strategy !== "single") return found;
  reader.problems.warn(entry.offset, "sub_agents of an agent with strategy single are never called; use react");
  return [];
}
