import type { AgentSource, LoadedAgent } from "../agent/agent-source.ts";
import type { Problems } from "../yaml/problems.ts";
import type { YamlText } from "../yaml/yaml-reader.ts";
import { parseReference } from "./reference.ts";

/** The agent that a step names, whole, so that the run keeps what the file said when it began. */
export function resolveAgent(problems: Problems, name: YamlText, agents: AgentSource): LoadedAgent | undefined {
  const reference = parseReference(name.text);
  if (reference === undefined) {
    problems.add(name.offset, `agent \`${name.text}\` is no reference; expected id or id@v1`);
    return undefined;
  }
  const lookup = agents.find(reference.id, reference.version);
  switch (lookup.kind) {
    case "found":
      problems.warnings.push(...lookup.agent.warnings.filter((warning) => !problems.warnings.includes(warning)));
      return lookup.agent;
    case "invalid":
      problems.addFrom(lookup.error);
      return undefined;
    case "unknown":
      problems.addUnknown(name.offset, "agent", name.text, lookup.known);
      if (lookup.unreadable.length > 0) problems.warn(name.offset, `files that hold no readable agent: ${lookup.unreadable.slice(0, 10).join(", ")}`);
      return undefined;
  }
}
