import path from "node:path";

/** Where Forge keeps what a person has said on this machine: outside every workspace, so that none can bring it. */
export function stateDirectoryOf(environment: Readonly<Record<string, string | undefined>>, home: string): string {
  const base = environment.XDG_STATE_HOME;
  // As the specification has it, a relative one is to be ignored.
  return path.join(base !== undefined && path.isAbsolute(base) ? base : path.join(home, ".local", "state"), "forge");
}
