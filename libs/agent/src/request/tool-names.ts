import { createHash } from "node:crypto";

/** Tool names as the provider may see them, and back. */
export interface ToolNames {
  /** Ours to the provider's: letters, digits, `_` and `-`, at most 64 characters. */
  toWire(name: string): string;
  /** The provider's to ours; a name that was never sent is kept as it is. */
  fromWire(wire: string): string;
}

// What OpenAI, Anthropic and Google all accept.
const WIRE_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const HASH_DIGITS = 8;

function readable(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "__").slice(0, 64);
}

/** Told apart by a digest, for what would collide or is too long. */
function hashed(name: string): string {
  const digest = createHash("sha256").update(name).digest("hex").slice(0, HASH_DIGITS);
  return `${readable(name).slice(0, 64 - HASH_DIGITS - 1)}_${digest}`;
}

/**
 * The table for one turn's catalogue. Names that every provider accepts stay as they are; others are rewritten (`tools.search` is sent as
 * `tools__search`). The outcome depends on the set of names alone, not on their order. Names that are no longer in the catalogue, as an old
 * conversation holds them, are rewritten by the same rule without taking another tool's name.
 */
export function createToolNames(catalogue: readonly string[]): ToolNames {
  const byName = new Map<string, string>();
  const byWire = new Map<string, string>();
  const take = (name: string, wire: string): void => {
    byName.set(name, wire);
    byWire.set(wire, name);
  };
  const names = [...new Set(catalogue)].sort();
  for (const name of names) if (WIRE_NAME.test(name)) take(name, name);
  const rewritten = names.filter((name) => !byName.has(name));
  const wanted = Map.groupBy(rewritten, readable);
  for (const name of rewritten) {
    const wire = readable(name);
    const isFree = wire.length > 0 && !byWire.has(wire) && wanted.get(wire)?.length === 1 && name.length <= 64;
    take(name, isFree ? wire : hashed(name));
  }
  return {
    toWire(name) {
      const known = byName.get(name);
      if (known !== undefined) return known;
      const wire = readable(name);
      return wire.length > 0 && !byWire.has(wire) ? wire : hashed(name);
    },
    fromWire: (wire) => byWire.get(wire) ?? wire,
  };
}
