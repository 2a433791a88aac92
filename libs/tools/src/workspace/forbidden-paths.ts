import ignore from "ignore";

/**
 * Files that hold secrets by convention: what a tool reads goes to a model, and what it writes may run with somebody's rights. Written like the lines of a
 * .gitignore; names in any case.
 */
export const FORBIDDEN_DEFAULT: readonly string[] = [
  ".env",
  ".env.*",
  "!.env.example",
  "!.env.sample",
  "!.env.template",
  "*.pem",
  "*.p12",
  "*.pfx",
  "id_rsa",
  "id_dsa",
  "id_ecdsa",
  "id_ed25519",
  ".netrc",
  ".pgpass",
  ".git-credentials",
  ".ssh/",
  ".aws/",
];

/** Whether a path, relative to the workspace and with `/`, is one that tools neither read nor write. */
export type IsForbidden = (path: string) => boolean;

/** Patterns like those of a .gitignore; a path is forbidden as a file or directory. */
export function forbiddenPaths(patterns: readonly string[]): IsForbidden {
  const rules = ignore().add([...patterns]);
  const known = new Map<string, boolean>();
  return (path) => {
    if (!ignore.isPathValid(path)) return false;
    const before = known.get(path);
    if (before !== undefined) return before;
    const forbidden = rules.ignores(path) || rules.ignores(`${path}/`);
    // Bounded, since a workspace may have more files than are worth remembering.
    if (known.size < 10_000) known.set(path, forbidden);
    return forbidden;
  };
}
