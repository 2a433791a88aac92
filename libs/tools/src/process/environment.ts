/** What a child inherits without being asked: enough to find programs and to speak the user's language, and no key or token. */
const INHERITED = new Set(["PATH", "HOME", "LANG", "TERM", "TZ", "TMPDIR", "USER"]);

/**
 * The environment of a child process: the allow-listed variables of `source` (and every LC_*), then what was asked for by name and value.
 * Everything else stays behind, because the owner's environment holds provider keys.
 */
export function childEnvironment(asked: Readonly<Record<string, string>> = {}, source: Readonly<NodeJS.ProcessEnv> = process.env): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value !== undefined && (INHERITED.has(name) || name.startsWith("LC_"))) environment[name] = value;
  }
  return { ...environment, ...asked };
}
