/** The names that skills made for others use, and ours. */
const OURS: Readonly<Record<string, readonly string[]>> = {
  Read: ["tools.read_file"],
  Write: ["tools.file"],
  Edit: ["tools.patch", "tools.file"],
  MultiEdit: ["tools.patch"],
  Glob: ["tools.glob"],
  Grep: ["tools.search"],
  LS: ["tools.glob", "tools.read_file"],
  Bash: ["tools.shell"],
  WebFetch: ["tools.http"],
  Skill: ["tools.skill"],
};

/**
 * Of the tools that somebody may use anyway, those that a skill names in `allowed-tools`; all of them where it names none. It never adds one. What stands in
 * parentheses, as in `Bash(git:*)`, is left to the policy, which decides on each call.
 */
export function narrowTools(available: readonly string[], allowedTools: readonly string[] | undefined): string[] {
  if (allowedTools === undefined) return [...available];
  const named = new Set(allowedTools.flatMap((name) => OURS[name.replace(/\(.*$/, "")] ?? [name]));
  return available.filter((tool) => named.has(tool) || named.has(tool.replace(/^mcp\.([^.]+)\.(.+)$/, "mcp__$1__$2")));
}
