import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { readIndexFile, TEMPORARY, writeIndexFile } from "./index-file.ts";
import { PARSER_VERSION } from "./symbol-parser.ts";
import { type SymbolSegment, symbolsAt } from "./symbol-segment.ts";
import { SymbolStore } from "./symbol-store.ts";
import type { DirectoryState, TreeState } from "./tree-state.ts";

/** Changes with the shape of what is written. */
const FORMAT = 1;
const MANIFEST = "manifest.bin";
const SEGMENT = /^symbols-[0-9a-f-]{36}\.bin$/;
/** A file that no manifest names may be one that another process is about to name. */
const UNNAMED_MS_MIN = 60 * 60 * 1_000;
/** More segments than this, or mostly symbols of contents that are gone, and all are written anew as few. */
const SEGMENTS_MAX = 64;

interface Manifest {
  readonly format: number;
  readonly parser: string;
  readonly root: string;
  readonly segments: readonly string[];
  readonly directories: readonly DirectoryState[];
}

/**
 * Keeps what is known of one workspace: a manifest, and segments of symbols, which are never changed. The manifest is replaced whole, so that any number of
 * processes may read and write: the last one's stands, and what it does not name is cleared away after an hour.
 */
export class IndexStore {
  readonly #directory: string;
  readonly #root: string;

  constructor(dataDirectory: string, root: string) {
    this.#root = root;
    this.#directory = join(dataDirectory, "context", createHash("sha256").update(root).digest("hex").slice(0, 32));
  }

  /** Nothing known where nothing was written, or what was is damaged or of another version. */
  readTree(): { tree: TreeState; segments: readonly string[]; isDamaged: boolean } {
    const read = readIndexFile(join(this.#directory, MANIFEST));
    const manifest = read === undefined || read === "damaged" ? undefined : (read.value as Manifest);
    if (manifest?.format !== FORMAT || manifest.parser !== PARSER_VERSION || manifest.root !== this.#root)
      return { tree: new Map(), segments: [], isDamaged: read === "damaged" };
    return { tree: new Map(manifest.directories.map((directory) => [directory.path, directory])), segments: manifest.segments, isDamaged: false };
  }

  /** Adds what the segments hold; of one that is gone or damaged, the contents are not known and are looked at anew. */
  readSegments(names: readonly string[], symbols: SymbolStore): { isDamaged: boolean } {
    let isDamaged = false;
    for (const name of names) {
      const read = SEGMENT.test(name) ? readIndexFile(join(this.#directory, name)) : "damaged";
      if (read === undefined || read === "damaged") isDamaged = true;
      else symbols.addSegment(read.value as SymbolSegment, name);
    }
    return { isDamaged };
  }

  /** Writes what is not written yet. Errors: the file system's, for example of a full disk; what stands stays whole then. */
  write(tree: TreeState, symbols: SymbolStore): void {
    // Also where somebody deleted it meanwhile.
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    symbols.seal();
    for (const stored of symbols.segments) {
      if (stored.file !== undefined && existsSync(join(this.#directory, stored.file))) continue;
      stored.file = `symbols-${randomUUID()}.bin`;
      writeIndexFile(join(this.#directory, stored.file), stored.segment);
    }
    const segments = symbols.segments.map(({ file }) => file as string);
    const manifest: Manifest = { format: FORMAT, parser: PARSER_VERSION, root: this.#root, segments, directories: [...tree.values()] };
    writeIndexFile(join(this.#directory, MANIFEST), manifest);
    this.#clear(new Set(segments));
  }

  #clear(named: ReadonlySet<string>): void {
    for (const name of readdirSync(this.#directory)) {
      if (name === MANIFEST || named.has(name) || !(SEGMENT.test(name) || name.endsWith(TEMPORARY))) continue;
      const path = join(this.#directory, name);
      const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > UNNAMED_MS_MIN) rmSync(path, { force: true });
    }
  }
}

/** The symbols of the contents that a tree has, in as few segments as they need; the same store where that would not help. */
export function compacted(tree: TreeState, symbols: SymbolStore): SymbolStore {
  symbols.seal();
  const live = new Set([...tree.values()].flatMap(({ sources }) => sources.map(({ hash }) => hash)));
  const known = symbols.segments.reduce((sum, { segment }) => sum + segment.hashes.length, 0);
  if (symbols.segments.length <= SEGMENTS_MAX && known <= 2 * live.size + 1_000) return symbols;
  const fresh = new SymbolStore();
  for (const { segment } of symbols.segments)
    for (const [index, hash] of segment.hashes.entries()) if (live.has(hash) && !fresh.has(hash)) fresh.add(hash, symbolsAt(segment, index));
  fresh.seal();
  return fresh;
}
