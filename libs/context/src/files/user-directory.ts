import { homedir } from "node:os";
import { isAbsolute, join, sep } from "node:path";

/** Where a person keeps what is to hold in all of his workspaces: `$XDG_CONFIG_HOME/forge`, else `~/.config/forge`. It need not be there. */
export function userConfigDirectory(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const given = environment.XDG_CONFIG_HOME;
  // A relative one is to be ignored, as the specification of these directories says.
  return join(given !== undefined && isAbsolute(given) ? given : join(homedir(), ".config"), "forge");
}

/** A path for people and models, who need not know where the home is. */
export function underHome(path: string): string {
  const home = homedir();
  return home.length > 1 && path.startsWith(home + sep) ? `~${path.slice(home.length)}` : path;
}
