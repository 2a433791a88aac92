import type { SymbolPlace } from "../index/symbol-store.ts";

/** A file that defines or names something. */
export interface MappedFile {
  readonly path: string;
  readonly place: SymbolPlace;
}

/** Which files define which names, and which files name them; lists of all files and all names, one behind the other, to be walked through fast. */
export interface ReferenceGraph {
  readonly files: readonly MappedFile[];
  /** The number of a name by its hash. */
  readonly nameIds: ReadonlyMap<number, number>;
  /** How many files define a name. */
  readonly definers: Uint32Array;
  /** How much a name tells, in tenths. */
  readonly weights: Uint8Array;
  /** The names that each file defines, each once, and where they begin. */
  readonly definedStarts: Uint32Array;
  readonly defined: Uint32Array;
  /** The names of other files that each file names. */
  readonly namedStarts: Uint32Array;
  readonly named: Uint32Array;
}

export function buildGraph(files: readonly MappedFile[]): ReferenceGraph {
  const nameIds = new Map<number, number>();
  const [definers, weights]: [number[], number[]] = [[], []];
  const defined = new Lists();
  for (const { place } of files) {
    const { segment, index } = place;
    const own = new Set<number>();
    for (let at = segment.nameStarts[index] as number; at < (segment.nameStarts[index + 1] as number); at++) {
      const hash = segment.names[at] as number;
      let id = nameIds.get(hash);
      if (id === undefined) {
        id = nameIds.size;
        nameIds.set(hash, id);
        definers.push(0);
        weights.push(segment.weights[at] as number);
      }
      if (!own.has(id)) definers[id] = (definers[id] as number) + 1;
      own.add(id);
    }
    defined.add(own);
  }
  const named = new Lists();
  for (const [file, { place }] of files.entries()) {
    const { segment, index } = place;
    const own = new Set(defined.at(file));
    const others: number[] = [];
    for (let at = segment.referenceStarts[index] as number; at < (segment.referenceStarts[index + 1] as number); at++) {
      const id = nameIds.get(segment.references[at] as number);
      if (id !== undefined && !own.has(id)) others.push(id);
    }
    named.add(others);
  }
  return {
    files,
    nameIds,
    definers: Uint32Array.from(definers),
    weights: Uint8Array.from(weights),
    definedStarts: defined.starts(),
    defined: defined.values(),
    namedStarts: named.starts(),
    named: named.values(),
  };
}

/** Lists of numbers, one behind the other. */
class Lists {
  readonly #starts = [0];
  readonly #values: number[] = [];

  add(list: Iterable<number>): void {
    for (const value of list) this.#values.push(value);
    this.#starts.push(this.#values.length);
  }

  at(index: number): number[] {
    return this.#values.slice(this.#starts[index], this.#starts[index + 1]);
  }

  starts(): Uint32Array {
    return Uint32Array.from(this.#starts);
  }

  values(): Uint32Array {
    return Uint32Array.from(this.#values);
  }
}
