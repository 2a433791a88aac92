import { create, toBinary } from "@bufbuild/protobuf";
import { type AgentSpec, AgentSpecSchema, type SubAgent, SubAgentHistory, SubAgentSchema } from "@forge/protocol/session";
import { isScalar, type Node } from "yaml";
import { parseReference } from "../definition/reference.ts";
import { resolveAgent } from "../definition/resolve-agent.ts";
import { clip } from "../yaml/problems.ts";
import type { YamlEntry, YamlReader, YamlText } from "../yaml/yaml-reader.ts";
import { startOf } from "../yaml/yaml-source.ts";
import type { LoadedAgent, SubAgentSource } from "./agent-source.ts";

const SUB_AGENTS_MAX = 16;
/** Agents below each other. */
const DEPTH_MAX = 4;
const DESCRIPTION_MAX = 1_024;
const REFERENCE_MAX = 256;
/** Bytes of all sub-agents of an agent, those below them included: each is in its caller's definition, whole. */
const BYTES_MAX = 1_048_576;

export const SUB_AGENT_KEYS = ["agent", "name", "description", "history"];

const HISTORIES: Readonly<Record<string, SubAgentHistory>> = {
  fresh: SubAgentHistory.FRESH,
  forked: SubAgentHistory.FORKED,
  shared: SubAgentHistory.SHARED,
};

export const SUB_AGENT_HISTORIES = Object.keys(HISTORIES);

/** An agent's `sub_agents`: references, or mappings. `tools` are the caller's. */
export function readSubAgents(reader: YamlReader, entry: YamlEntry | undefined, tools: readonly string[], source: SubAgentSource): SubAgent[] {
  const items = (entry && reader.list(entry.value, "sub_agents")) ?? [];
  if (items.length > SUB_AGENTS_MAX) reader.problems.add(startOf(entry?.value), `${items.length} sub_agents; at most ${SUB_AGENTS_MAX} are allowed`);
  const found: SubAgent[] = [];
  let bytes = 0;
  for (const item of items.slice(0, SUB_AGENTS_MAX)) {
    const sub = readSubAgent(reader, item, tools, source);
    if (sub === undefined) continue;
    if (found.some(({ name }) => name === sub.name))
      reader.problems.add(startOf(item), `sub-agent \`${sub.name}\` stands twice in sub_agents; give one a name`);
    found.push(sub);
    bytes += sub.agent === undefined ? 0 : toBinary(AgentSpecSchema, sub.agent).length;
  }
  if (bytes > BYTES_MAX) reader.problems.add(startOf(entry?.value), `the sub_agents take ${bytes} bytes together; at most ${BYTES_MAX} are allowed`);
  return found;
}

function readSubAgent(reader: YamlReader, item: Node, tools: readonly string[], source: SubAgentSource): SubAgent | undefined {
  const isReference = isScalar(reader.resolve(item));
  const entries = isReference ? new Map<string, YamlEntry>() : reader.mapping(item, "a sub-agent");
  if (entries === undefined) return undefined;
  reader.checkKeys(entries, "a sub-agent", SUB_AGENT_KEYS);
  const [named, name, description, history] = SUB_AGENT_KEYS.map((key) => entries.get(key));
  if (!isReference && named === undefined) reader.problems.add(startOf(item), "a sub-agent has no agent; expected id or id@v1");
  const node = isReference ? item : named?.value;
  const reference = node && reader.text(node, "agent of a sub-agent", REFERENCE_MAX);
  const loaded = reference && resolve(reader, reference, source);
  const given = name && reader.text(name.value, "name of a sub-agent", REFERENCE_MAX);
  const words = description && reader.text(description.value, "description of a sub-agent", DESCRIPTION_MAX);
  const word = history && reader.choice(history.value, "history of a sub-agent", SUB_AGENT_HISTORIES);
  if (reference === undefined || loaded === undefined) return undefined;
  const agent = specOf(reader, reference, loaded, tools);
  const called = given?.text ?? loaded.agent.agentId;
  if (!/^[a-z0-9_-]{1,64}$/.test(called)) {
    const problem = `sub-agent \`${clip(called)}\` is no valid name; expected at most 64 lower-case letters, digits, \`_\` and \`-\``;
    reader.problems.add(given?.offset ?? reference.offset, `${problem}${given === undefined ? ", under `name`" : ""}`);
  }
  return create(SubAgentSchema, {
    name: called,
    description: words?.text ?? shortened(loaded.description),
    agent,
    history: HISTORIES[word ?? "fresh"],
  });
}

function resolve({ problems }: YamlReader, name: YamlText, source: SubAgentSource): LoadedAgent | undefined {
  const reference = parseReference(name.text);
  const lookup = reference === undefined ? undefined : source.find(reference.id, reference.version);
  if (lookup?.kind === "circle") {
    problems.add(name.offset, `agents that call each other: ${lookup.path.join(" -> ")}; expected an end to it`);
    return undefined;
  }
  // What is no reference is refused before anything is looked up.
  return resolveAgent(problems, name, { find: () => lookup ?? { kind: "unknown", known: [], unreadable: [] } });
}

/** What of the agent its caller takes: all but its prompt, in whose place it gets a task. */
function specOf({ problems }: YamlReader, reference: YamlText, { agent: step, pipeline }: LoadedAgent, tools: readonly string[]): AgentSpec | undefined {
  const { agent, agentId, prompt } = step;
  if (pipeline.length > 0 || agent === undefined) {
    problems.add(reference.offset, `agent ${agentId} has a pipeline, which no agent can call; expected one with a prompt`);
    return undefined;
  }
  const beyond = agent.tools.filter((tool) => !tools.includes(tool));
  if (beyond.length > 0)
    problems.add(reference.offset, `agent ${agentId} uses ${beyond.slice(0, 5).join(", ")}; expected no tools but those of the agent that calls it`);
  if (1 + depthOf(agent) > DEPTH_MAX) problems.add(reference.offset, `sub-agents below agent ${agentId} are too deep; at most ${DEPTH_MAX} are allowed`);
  if (!/^\s*\{\{\s*inputs\.[\p{L}\p{N}_-]+\s*\}\}\s*$/u.test(prompt))
    problems.warn(
      reference.offset,
      `the prompt of agent ${agentId} is not used here: a sub-agent gets its task in place of it; what it has to know belongs into \`system\``,
    );
  return agent;
}

function depthOf({ subAgents }: AgentSpec): number {
  return subAgents.reduce((depth, { agent }) => Math.max(depth, 1 + (agent === undefined ? 0 : depthOf(agent))), 0);
}

function shortened(text: string): string {
  return text.length <= DESCRIPTION_MAX ? text : `${text.slice(0, DESCRIPTION_MAX - 1).toWellFormed()}…`;
}
