/** What the index knows of a file's content. */
export interface FileSymbols {
  /** In order of their lines. */
  readonly definitions: readonly Definition[];
  /** Hashes of the names that stand in it, each once. */
  readonly references: readonly number[];
  /** Hashes of what it defines, one for each definition. */
  readonly names: readonly number[];
  /** A program wrote it: what it defines matters less than what somebody wrote. */
  readonly isGenerated: boolean;
}

/** A name that a file defines. */
export interface Definition {
  readonly name: string;
  /** From 1. */
  readonly line: number;
  /** Its line without the indentation, cut; of the file's own text. */
  readonly signature: string;
  /** It stands within another definition, going by the indentation. */
  readonly isNested: boolean;
}

/** Nothing. */
export const NO_SYMBOLS: FileSymbols = { definitions: [], references: [], names: [], isGenerated: false };

/**
 * A name in a family of languages as a number: FNV-1a of its UTF-16 units, 32 bits. Two names of one hash are taken for one; that only moves a rank a little.
 */
export function hashName(family: string, name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < family.length; index++) hash = Math.imul(hash ^ family.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ 0x2f, 0x01000193);
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
