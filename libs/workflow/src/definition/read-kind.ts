import type { AgentSource } from "../agent/agent-source.ts";
import type { YamlEntry, YamlReader } from "../yaml/yaml-reader.ts";
import type { DefinitionSource } from "./definition-source.ts";
import { checkFunctionName, checkToolName, NAME_LENGTH_MAX } from "./names.ts";
import { readWait } from "./read-wait.ts";
import { resolveAgent } from "./resolve-agent.ts";
import { resolveSubWorkflow } from "./resolve-sub-workflow.ts";
import type { KindDraft } from "./step-draft.ts";

/** What a step may be; each is also the key that says which one. */
export const TYPES = ["agent", "function", "tool", "wait", "workflow"] as const;

type Type = (typeof TYPES)[number];

const PATH_LENGTH_MAX = 1024;

/** Where a step's agent and workflow are looked up. */
export interface StepSources {
  readonly agents: AgentSource;
  readonly source: DefinitionSource;
}

/** What a step does; a wait may have brought its own timeout. */
export interface ReadKind {
  readonly type: Type | undefined;
  readonly kind: KindDraft | undefined;
  readonly timeout: YamlEntry | undefined;
}

/** What a step does, from its `type` and the key of that name; without `type`, from the one such key that is there. */
export function readKind(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>, what: string, at: number, sources: StepSources): ReadKind {
  const type = readType(reader, entries, what, at);
  if (type === undefined) return { type, kind: undefined, timeout: undefined };
  const entry = entries.get(type);
  if (entry === undefined) {
    reader.problems.add(entries.get("type")?.offset ?? at, `${what} names no ${type}; expected \`${type}: ${type === "wait" ? "5m" : "<name>"}\``);
    return { type, kind: undefined, timeout: undefined };
  }
  if (type !== "wait") return { type, kind: readNamed(reader, entries, type, entry, sources), timeout: undefined };
  const { wait, timeout } = readWait(reader, entry.value, what);
  return { type, kind: wait && { type, wait }, timeout };
}

function readType(reader: YamlReader, entries: ReadonlyMap<string, YamlEntry>, what: string, at: number): Type | undefined {
  const written = entries.get("type");
  const named = TYPES.filter((type) => entries.has(type));
  if (written !== undefined) {
    const type = reader.choice(written.value, "type", TYPES);
    for (const other of type === undefined ? [] : named) {
      if (other !== type) reader.problems.add((entries.get(other) as YamlEntry).offset, `\`${other}\` in ${what}, whose type is ${type}`);
    }
    return type;
  }
  const [type, other] = named;
  if (type === undefined) reader.problems.add(at, `${what} has no type; expected one of ${TYPES.join(", ")}`);
  if (other === undefined) return type;
  reader.problems.add((entries.get(other) as YamlEntry).offset, `${what} has ${named.join(" and ")}; expected one of them`);
  return undefined;
}

function readNamed(
  reader: YamlReader,
  entries: ReadonlyMap<string, YamlEntry>,
  type: Exclude<Type, "wait">,
  entry: YamlEntry,
  { agents, source }: StepSources,
): KindDraft | undefined {
  const name = reader.text(entry.value, type, type === "workflow" ? PATH_LENGTH_MAX : 2 * NAME_LENGTH_MAX);
  if (name === undefined) return undefined;
  switch (type) {
    case "agent":
      return { type, name, agent: resolveAgent(reader.problems, name, agents) };
    case "function": {
      const idempotent = entries.get("idempotent");
      const isIdempotent = (idempotent && reader.boolean(idempotent.value, "idempotent")) ?? true;
      return checkFunctionName(reader.problems, name) && { type, name, isNotIdempotent: !isIdempotent };
    }
    case "tool":
      return checkToolName(reader.problems, name) && { type, name };
    case "workflow":
      return { type, name, definition: resolveSubWorkflow(reader.problems, name, source) };
  }
}
