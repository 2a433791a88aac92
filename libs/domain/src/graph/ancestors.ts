import type { Needs } from "./cycle-of.ts";

/** Which steps must have ended before a step begins, over all steps between. The graph has no cycle. */
export class Ancestors {
  readonly #needs: Needs;
  #bits: Bits | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  has(step: string, ancestor: string): boolean {
    // Most reads are of what a step needs itself.
    if (this.#needs.get(step)?.includes(ancestor) === true) return true;
    this.#bits ??= new Bits(this.#needs);
    return this.#bits.has(step, ancestor);
  }
}

/** A bit for each pair of steps: 12 MB for ten thousand steps, which a set for each would take a hundred times. */
class Bits {
  readonly #positions: ReadonlyMap<string, number>;
  readonly #rows: (Uint32Array | undefined)[] = [];
  readonly #words: number;

  constructor(needs: Needs) {
    this.#positions = new Map(Array.from(needs.keys(), (id, position) => [id, position]));
    this.#words = Math.ceil(needs.size / 32);
    for (const id of inOrder(needs)) this.#rows[this.#positions.get(id) as number] = this.#row(needs.get(id) as readonly string[]);
  }

  has(step: string, ancestor: string): boolean {
    const [row, position] = [this.#rows[this.#positions.get(step) ?? -1], this.#positions.get(ancestor)];
    return row !== undefined && position !== undefined && (((row[position >> 5] as number) >>> (position & 31)) & 1) === 1;
  }

  /** What a step needs, and what that needs: the rows of those are there already. */
  #row(needs: readonly string[]): Uint32Array {
    const row = new Uint32Array(this.#words);
    for (const need of needs) {
      const position = this.#positions.get(need);
      if (position === undefined) continue;
      row[position >> 5] = (row[position >> 5] as number) | (1 << (position & 31));
      for (const [word, bits] of this.#rows[position]?.entries() ?? []) row[word] = (row[word] as number) | bits;
    }
    return row;
  }
}

/** Every step after those that it needs. */
function inOrder(needs: Needs): string[] {
  const ordered = new Set<string>();
  for (const start of needs.keys()) {
    const open = [start];
    for (let id = open.at(-1); id !== undefined; id = open.at(-1)) {
      const before = (needs.get(id) ?? []).filter((need) => needs.has(need) && !ordered.has(need));
      if (before.length > 0 && !ordered.has(id)) {
        open.push(...before);
        continue;
      }
      ordered.add(id);
      open.pop();
    }
  }
  return Array.from(ordered);
}
