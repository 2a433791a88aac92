import type { SecretSource } from "../secrets/secret-source.ts";

/** What `${NAME}` and `secret://name` in a configuration stand for. */
export interface ValueSource {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names of variables that may be used; one that ends with `*` stands for all with that beginning. */
  readonly allowedVariables: readonly string[];
  readonly secrets: Pick<SecretSource, "resolve">;
}

/** A value as it is used, and what of it is secret. */
export interface ExpandedValue {
  readonly value: string;
  readonly secrets: readonly string[];
}

// What is named by either is not looked at again: a value that looks like a reference stays what it is.
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|(secret:\/\/[A-Za-z0-9_-]+)/g;

/**
 * Expands `${NAME}`, `${NAME:-default}` and `secret://name` in a value. Throws an Error, for people, for a variable that may not be used or is not set, and for
 * a secret that is not known: a server is not started with half of what it was to be given.
 */
export function expandValue(text: string, source: ValueSource): ExpandedValue {
  const secrets: string[] = [];
  const value = text.replace(REFERENCE, (_whole, variable: string | undefined, fallback: string | undefined, secret: string | undefined) => {
    if (secret !== undefined) {
      const resolved = source.secrets.resolve(secret);
      secrets.push(resolved);
      return resolved;
    }
    const name = variable as string;
    if (!isAllowed(name, source.allowedVariables)) {
      throw new Error(`\${${name}} may not be used here: write secret://name, or allow the variable in the configuration (mcp.variables)`);
    }
    const found = source.environment[name] ?? fallback;
    if (found === undefined) throw new Error(`\${${name}} is not set`);
    // A variable that somebody had to allow by name is most likely a token.
    if (source.environment[name] !== undefined && !isPlain(name)) secrets.push(found);
    return found;
  });
  return { value, secrets };
}

function isAllowed(name: string, allowed: readonly string[]): boolean {
  return isPlain(name) || allowed.some((entry) => (entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : entry === name));
}

/** Variables that hold no secret and that every child sees anyway. */
function isPlain(name: string): boolean {
  return PLAIN.has(name) || name.startsWith("LC_");
}

const PLAIN = new Set(["PATH", "HOME", "LANG", "TERM", "TZ", "TMPDIR", "USER", "PWD"]);
