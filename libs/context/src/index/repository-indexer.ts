import { createHash } from "node:crypto";
import { ContainedFiles } from "../files/contained-files.ts";
import { decodeText } from "../files/decode-text.ts";
import { buildGraph, type MappedFile, type ReferenceGraph } from "../map/reference-graph.ts";
import { type MapRequest, type RenderedMap, renderMap } from "../map/render-map.ts";
import type { IndexStatus } from "./index-status.ts";
import { compacted, IndexStore } from "./index-store.ts";
import { type Language, languageOf } from "./languages.ts";
import { FILES_MAX, scanTree } from "./scan-tree.ts";
import { PARSER_VERSION, SymbolParser } from "./symbol-parser.ts";
import { SymbolStore } from "./symbol-store.ts";
import { NOT_READ, type SourceState, type TreeState } from "./tree-state.ts";

/** Larger files are rarely ones that somebody wrote. */
export const SOURCE_BYTES_MAX = 1024 * 1024;
/** How often others get their turn while files are read. */
const TURN_MS = 20;
/** How much work is lost at most where a first build is interrupted. */
const SAVE_EVERY_MS = 15_000;

export interface IndexerOptions {
  readonly root: string;
  readonly dataDirectory: string;
  /** Called at every step, often. Throws to stop the work between two files. */
  readonly onProgress?: () => void;
}

/** The index of one workspace: finds its files, reads what changed, keeps it, and draws maps of it. All in the thread that calls. */
export class RepositoryIndexer {
  readonly #files: ContainedFiles;
  readonly #store: IndexStore;
  readonly #onProgress: () => void;
  #symbols = new SymbolStore();
  #tree: TreeState = new Map();
  #unread: readonly string[] | undefined;
  #parser: SymbolParser | undefined;
  #graph: ReferenceGraph | undefined;
  #status: IndexStatus = { state: "scanning", files: 0, sources: 0, parsed: 0, scanMs: 0, notes: [] };

  /** Errors: validation, where there is no such workspace. */
  constructor(options: IndexerOptions) {
    this.#files = new ContainedFiles(options.root);
    this.#store = new IndexStore(options.dataDirectory, this.#files.root);
    this.#onProgress = options.onProgress ?? (() => {});
  }

  get status(): IndexStatus {
    return this.#status;
  }

  /** Brings the index up to date with the files. One at a time. */
  async update(): Promise<IndexStatus> {
    const started = performance.now();
    this.#set({ state: "scanning", notes: [] });
    if (this.#unread === undefined) this.#open();
    const scan = await scanTree(this.#files, this.#tree, async (found) => {
      if (found > this.#status.files) this.#set({ files: found });
      await this.#turn();
    });
    this.#tree = scan.tree;
    const states = [...scan.tree.values()];
    const files = states.reduce((sum, { fileCount }) => sum + fileCount, 0);
    const sources = states.reduce((sum, directory) => sum + directory.sources.length, 0);
    this.#set({ state: "parsing", files, sources, parsed: sources - scan.changed.length, scanMs: performance.now() - started });
    if (scan.isCut) this.#note(`more than ${FILES_MAX} files: the others are not known`);
    this.#readSegments();
    const changed = [...scan.changed, ...this.#lost(new Set(scan.changed.map(({ source }) => source)))];
    this.#set({ parsed: sources - changed.length });
    await this.#readAll(changed);
    if (scan.isChanged || changed.length > 0) {
      this.#graph = undefined;
      this.#save();
    }
    // Of a large workspace this takes a second, which no map is to wait for.
    this.#graph ??= buildGraph(this.#mapped());
    this.#set({ state: "ready", parsed: sources });
    return this.#status;
  }

  /** A map of what is known by now. */
  map(request: MapRequest): RenderedMap {
    this.#graph ??= buildGraph(this.#mapped());
    return renderMap(this.#graph, request);
  }

  #open(): void {
    const { tree, segments, isDamaged } = this.#store.readTree();
    this.#tree = tree;
    this.#unread = segments;
    if (isDamaged) this.#note("the index was damaged and is built anew");
  }

  /** Not before the files are known, so that a second look at a large workspace needs nothing but their stats. */
  #readSegments(): void {
    if (this.#unread === undefined || this.#unread.length === 0) return;
    const { isDamaged } = this.#store.readSegments(this.#unread, this.#symbols);
    this.#unread = [];
    if (isDamaged) this.#note("a part of the index was damaged and is built anew");
  }

  /** Sources whose symbols are known no more, because a segment is lost. */
  #lost(changed: ReadonlySet<SourceState>): { path: string; source: SourceState }[] {
    const lost: { path: string; source: SourceState }[] = [];
    for (const { path, sources } of this.#tree.values())
      for (const source of sources)
        if (source.hash !== NOT_READ && !changed.has(source) && !this.#symbols.has(source.hash))
          lost.push({ path: path === "" ? source.name : `${path}/${source.name}`, source });
    return lost;
  }

  async #readAll(changed: readonly { readonly path: string; readonly source: SourceState }[]): Promise<void> {
    let [turn, saved] = [performance.now(), performance.now()];
    for (const { path, source } of changed) {
      await this.#read(path, source);
      this.#set({ parsed: this.#status.parsed + 1 });
      if (performance.now() - turn > TURN_MS) {
        await this.#turn();
        turn = performance.now();
      }
      if (performance.now() - saved > SAVE_EVERY_MS) {
        this.#graph = undefined;
        this.#save();
        saved = performance.now();
      }
    }
  }

  async #read(path: string, source: SourceState): Promise<void> {
    const language = languageOf(source.name) as Language;
    let text: string;
    try {
      const { bytes, size } = this.#files.read(path, SOURCE_BYTES_MAX);
      if (size > bytes.length) {
        source.hash = NOT_READ;
        return;
      }
      source.hash = createHash("sha256").update(`${PARSER_VERSION} ${language.name}\n`).update(bytes).digest("hex").slice(0, 32);
      if (this.#symbols.has(source.hash)) return;
      text = decodeText(bytes, path, false);
    } catch {
      // No text, or gone, or not to be read by this user: nothing that a map could show. A change of it shows in its stat.
      source.hash = NOT_READ;
      return;
    }
    this.#parser ??= await SymbolParser.create();
    this.#symbols.add(source.hash, await this.#parser.parse(text, language));
  }

  #save(): void {
    try {
      this.#symbols = compacted(this.#tree, this.#symbols);
      this.#store.write(this.#tree, this.#symbols);
    } catch (error) {
      // What is known is good for this process; the next one builds it anew.
      this.#note(`the index can't be kept: ${(error as Error).message}`);
    }
  }

  #mapped(): MappedFile[] {
    const files: MappedFile[] = [];
    for (const { path, sources } of this.#tree.values())
      for (const { name, hash } of sources) {
        const place = this.#symbols.placeOf(hash);
        if (place !== undefined) files.push({ path: path === "" ? name : `${path}/${name}`, place });
      }
    // Directories come in the order of a walk, which a change of one does not keep; a map is to be the same for the same files.
    return files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  }

  async #turn(): Promise<void> {
    this.#onProgress();
    await new Promise((resolve) => setImmediate(resolve));
  }

  #set(status: Partial<IndexStatus>): void {
    this.#status = { ...this.#status, ...status };
  }

  #note(note: string): void {
    if (!this.#status.notes.includes(note)) this.#set({ notes: [...this.#status.notes, note] });
  }
}
