import { packSegment, type SymbolSegment } from "./symbol-segment.ts";
import type { FileSymbols } from "./symbols.ts";

/** Contents in a segment. */
const SEGMENT_CONTENTS_MAX = 4_096;

/** A segment, and the file that it is in; none yet where it was not written. */
export interface StoredSegment {
  readonly segment: SymbolSegment;
  file: string | undefined;
}

/** Where the symbols of a content are. */
export interface SymbolPlace {
  readonly segment: SymbolSegment;
  readonly index: number;
}

/** The symbols of contents, by their hashes. What was found of a content holds for every file and every time that it has it. */
export class SymbolStore {
  readonly segments: StoredSegment[] = [];
  readonly #places = new Map<string, SymbolPlace>();
  #open = new Map<string, FileSymbols>();

  has(hash: string): boolean {
    return this.#places.has(hash) || this.#open.has(hash);
  }

  add(hash: string, symbols: FileSymbols): void {
    this.#open.set(hash, symbols);
    if (this.#open.size === SEGMENT_CONTENTS_MAX) this.seal();
  }

  addSegment(segment: SymbolSegment, file: string | undefined): void {
    this.segments.push({ segment, file });
    for (const [index, hash] of segment.hashes.entries()) this.#places.set(hash, { segment, index });
  }

  /** Undefined where it is not known. Seals what was added. */
  placeOf(hash: string): SymbolPlace | undefined {
    if (this.#open.has(hash)) this.seal();
    return this.#places.get(hash);
  }

  /** What was added since becomes a segment. */
  seal(): void {
    if (this.#open.size === 0) return;
    this.addSegment(packSegment(this.#open), undefined);
    this.#open = new Map();
  }
}
