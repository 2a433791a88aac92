import type { Definition, FileSymbols } from "./symbols.ts";

/** Between the definitions of a file, and between the fields of one: no line of a text holds them. */
const RECORD = "\x1e";
const FIELD = "\x1f";
/** In tenths. */
const WEIGHT_MIN = 1;

/** The symbols of many files in few objects: a hundred thousand files are read and written in a moment, and weigh little. Immutable. */
export interface SymbolSegment {
  /** Of the contents. */
  readonly hashes: readonly string[];
  readonly definitions: readonly string[];
  /** Where the names of each content begin, and the end of the last. */
  readonly nameStarts: Uint32Array;
  /** Hashes of what each content defines. */
  readonly names: Uint32Array;
  /** How much each name tells, in tenths. */
  readonly weights: Uint8Array;
  readonly referenceStarts: Uint32Array;
  readonly references: Uint32Array;
}

export function packSegment(contents: ReadonlyMap<string, FileSymbols>): SymbolSegment {
  const all = [...contents.values()];
  const definitions = all.map((symbols) => symbols.definitions);
  return {
    hashes: [...contents.keys()],
    definitions: definitions.map((list) => list.map(packDefinition).join(RECORD)),
    nameStarts: startsOf(definitions),
    names: Uint32Array.from(all.flatMap((symbols) => symbols.names)),
    weights: Uint8Array.from(all.flatMap((symbols) => symbols.definitions.map(({ name }) => (symbols.isGenerated ? WEIGHT_MIN : weightOf(name))))),
    referenceStarts: startsOf(all.map((symbols) => symbols.references)),
    references: Uint32Array.from(all.flatMap((symbols) => symbols.references)),
  };
}

/** The hashes of what the content at an index defines, one for each definition. */
export function namesAt(segment: SymbolSegment, index: number): Uint32Array {
  return segment.names.subarray(segment.nameStarts[index], segment.nameStarts[index + 1]);
}

/** What stands in a segment of the content at an index, as it was packed. */
export function symbolsAt(segment: SymbolSegment, index: number): FileSymbols {
  const weights = segment.weights.subarray(segment.nameStarts[index], segment.nameStarts[index + 1]);
  const definitions = definitionsAt(segment, index);
  return {
    definitions,
    references: [...segment.references.subarray(segment.referenceStarts[index], segment.referenceStarts[index + 1])],
    names: [...namesAt(segment, index)],
    isGenerated: definitions.some(({ name }, at) => weights[at] !== weightOf(name)),
  };
}

/** The definitions of the content at an index, in order of their lines. */
export function definitionsAt(segment: SymbolSegment, index: number): Definition[] {
  const packed = segment.definitions[index] ?? "";
  if (packed === "") return [];
  return packed.split(RECORD).map((record) => {
    const [line = "", isNested = "", name = "", signature = ""] = record.split(FIELD);
    return { line: Number(line), isNested: isNested === "1", name, signature };
  });
}

function packDefinition({ line, isNested, name, signature }: Definition): string {
  return [line, isNested ? "1" : "0", name, signature].join(FIELD);
}

function startsOf(lists: readonly (readonly unknown[])[]): Uint32Array {
  const starts = new Uint32Array(lists.length + 1);
  for (const [index, list] of lists.entries()) starts[index + 1] = (starts[index] as number) + list.length;
  return starts;
}

/** In tenths: a long name of several words says what is meant, one that begins with `_` is for its own file. The factors are aider's (see rank-files.ts). */
export function weightOf(name: string): number {
  if (name.startsWith("_")) return WEIGHT_MIN;
  return isDistinctive(name) ? 100 : 10;
}

/** Whether a name is of several words, so that it is hardly one of a sentence by chance. */
export function isDistinctive(name: string): boolean {
  return name.length >= 8 && (/[a-z0-9][A-Z]/.test(name) || /[A-Za-z0-9]_[A-Za-z0-9]/.test(name));
}
