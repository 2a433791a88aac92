import { bytesOfTokens } from "../budget/tokens.ts";
import { FAMILIES } from "../index/languages.ts";
import { definitionsAt, isDistinctive, namesAt } from "../index/symbol-segment.ts";
import { type Definition, hashName } from "../index/symbols.ts";
import { type Ranks, rankFiles } from "./rank-files.ts";
import type { ReferenceGraph } from "./reference-graph.ts";

/** Of a file that a message names; the others of it have to earn their place. */
const MENTIONED_DEFINITIONS_MAX = 40;
/** Of the budget, what files that a message names may take beforehand. */
const MENTIONED_SHARE = 0.5;
/** Of files whose definitions are looked at: more never fit into a budget. */
const CANDIDATE_FILES_MAX = 2_000;
/** A definition that a message names goes before all that it does not. */
const MENTIONED_BONUS = 1e3;
/** Of what a message says, what is looked through for names. */
const MESSAGE_LENGTH_MAX = 16 * 1024;
const NAME_LENGTH_MAX = 100;

export interface MapRequest {
  readonly budgetTokens: number;
  /** What is asked for: files and names in it come first. */
  readonly message: string;
  /** Files at hand, relative to the root. */
  readonly paths: readonly string[];
}

export interface RenderedMap {
  /** A line for each file, and an indented one with its line number for each definition. */
  readonly text: string;
  readonly files: number;
  readonly definitions: number;
  /** Definitions that are known and are not in it. */
  readonly leftOut: number;
}

interface Candidate {
  readonly file: number;
  readonly definition: Definition;
  readonly rank: number;
}

/** The definitions that matter most for a message, as text within a budget; equal input gives equal text. */
export function renderMap(graph: ReferenceGraph, request: MapRequest): RenderedMap {
  const mentionedFiles = filesIn(graph, request);
  const mentionedNames = namesIn(graph, request.message);
  const ranks = rankFiles(graph, mentionedFiles, mentionedNames);
  const bytesMax = bytesOfTokens(request.budgetTokens);
  const chosen = new Chosen(graph, bytesMax * MENTIONED_SHARE);
  for (const file of mentionedFiles)
    for (const definition of definitionsOf(graph, file).slice(0, MENTIONED_DEFINITIONS_MAX)) chosen.add({ file, definition, rank: 0 });
  chosen.bytesMax = bytesMax;
  const files = [...ranks.files.keys()].toSorted((one, other) => (ranks.files[other] as number) - (ranks.files[one] as number) || one - other);
  const candidates = new Set(files.slice(0, CANDIDATE_FILES_MAX));
  if (mentionedNames.size > 0) for (const file of definersOf(graph, mentionedNames)) candidates.add(file);
  for (const candidate of candidatesOf(graph, ranks, mentionedNames, candidates)) if (!chosen.add(candidate)) break;
  const known = graph.files.reduce(
    (sum, { place }) => sum + (place.segment.nameStarts[place.index + 1] as number) - (place.segment.nameStarts[place.index] as number),
    0,
  );
  return { text: chosen.text(mentionedFiles, ranks), files: chosen.files, definitions: chosen.count, leftOut: Math.max(0, known - chosen.count) };
}

class Chosen {
  bytesMax: number;
  count = 0;
  #bytes = 0;
  readonly #graph: ReferenceGraph;
  readonly #byFile = new Map<number, Map<string, Definition>>();

  constructor(graph: ReferenceGraph, bytesMax: number) {
    this.#graph = graph;
    this.bytesMax = bytesMax;
  }

  get files(): number {
    return this.#byFile.size;
  }

  /** False where it does not fit any more. */
  add({ file, definition }: Candidate): boolean {
    const ofFile = this.#byFile.get(file);
    const key = `${definition.line} ${definition.name}`;
    if (ofFile?.has(key)) return true;
    const bytes =
      Buffer.byteLength(lineOf(definition)) + 1 + (ofFile === undefined ? Buffer.byteLength(shownPath(this.#graph.files[file]?.path ?? "")) + 2 : 0);
    if (this.#bytes + bytes > this.bytesMax) return false;
    this.#bytes += bytes;
    this.count++;
    if (ofFile === undefined) this.#byFile.set(file, new Map([[key, definition]]));
    else ofFile.set(key, definition);
    return true;
  }

  /** Files that a message names first, then by rank; the definitions of each by line. */
  text(mentioned: ReadonlySet<number>, ranks: Ranks): string {
    const order = (file: number): number => (ranks.files[file] as number) + (mentioned.has(file) ? 1 : 0);
    const files = [...this.#byFile].toSorted(([one], [other]) => order(other) - order(one) || one - other);
    return files
      .map(([file, definitions]) => {
        const lines = [...definitions.values()].toSorted((one, other) => one.line - other.line).map(lineOf);
        return `${shownPath(this.#graph.files[file]?.path ?? "")}:\n${lines.join("\n")}\n`;
      })
      .join("");
  }
}

function lineOf({ line, signature, isNested }: Definition): string {
  return `${isNested ? "    " : "  "}${line} ${signature}`;
}

/** A name of a file may hold a line feed. */
function shownPath(path: string): string {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(path) ? JSON.stringify(path) : path;
}

function definitionsOf(graph: ReferenceGraph, file: number): Definition[] {
  const { segment, index } = graph.files[file]?.place ?? { segment: undefined, index: 0 };
  return segment === undefined ? [] : definitionsAt(segment, index);
}

/** Of its definitions, in their order. */
function hashesOf(graph: ReferenceGraph, file: number): Uint32Array {
  const { segment, index } = graph.files[file]?.place ?? { segment: undefined, index: 0 };
  return segment === undefined ? new Uint32Array() : namesAt(segment, index);
}

/** Of the files, by rank: what of their names' ranks is theirs, and a little of their own, so that what nobody names yet has an order too. */
function candidatesOf(graph: ReferenceGraph, ranks: Ranks, mentionedNames: ReadonlySet<number>, files: ReadonlySet<number>): Candidate[] {
  const candidates: Candidate[] = [];
  for (const file of files) {
    const definitions = definitionsOf(graph, file);
    const own = (ranks.files[file] as number) / (10 * Math.max(1, definitions.length));
    const hashes = hashesOf(graph, file);
    for (const [at, definition] of definitions.entries()) {
      const id = graph.nameIds.get(hashes[at] as number) as number;
      const rank = (ranks.names[id] as number) / (graph.definers[id] as number) + own;
      candidates.push({ file, definition, rank: mentionedNames.has(id) ? rank + MENTIONED_BONUS : rank });
    }
  }
  return candidates.toSorted((one, other) => other.rank - one.rank || one.file - other.file || one.definition.line - other.definition.line);
}

function definersOf(graph: ReferenceGraph, names: ReadonlySet<number>): number[] {
  const files: number[] = [];
  for (let file = 0; file < graph.files.length; file++)
    for (let at = graph.definedStarts[file] as number; at < (graph.definedStarts[file + 1] as number); at++)
      if (names.has(graph.defined[at] as number)) {
        files.push(file);
        break;
      }
  return files;
}

/** Files that are at hand, or that a message names by their path or by a name that no other has. */
function filesIn(graph: ReferenceGraph, { message, paths }: MapRequest): Set<number> {
  const words = new Set(
    message
      .slice(0, MESSAGE_LENGTH_MAX)
      .split(/[^\p{L}\p{N}_.\-/]+/u)
      .map((word) => word.replace(/^\.\//, "").replace(/\.$/, "")),
  );
  for (const path of paths) words.add(path);
  const found = new Set<number>();
  const byName = new Map<string, number[]>();
  for (const [file, { path }] of graph.files.entries()) {
    if (words.has(path)) found.add(file);
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (words.has(name)) byName.set(name, [...(byName.get(name) ?? []), file]);
  }
  for (const files of byName.values()) if (files.length === 1) found.add(files[0] as number);
  return found;
}

/** Names that a message has, and that are hardly there by chance: of several words, or between backticks. */
function namesIn(graph: ReferenceGraph, message: string): Set<number> {
  const text = message.slice(0, MESSAGE_LENGTH_MAX);
  const quoted = new Set(Array.from(text.matchAll(/`([A-Za-z_$][\w$]*)(?:\(\))?`/g), (match) => match[1] ?? ""));
  const found = new Set<number>();
  for (const [word] of text.matchAll(/[A-Za-z_$][\w$]*/g)) {
    if (word.length > NAME_LENGTH_MAX || (!isDistinctive(word) && !/^[A-Z]\w*[a-z]\w*[A-Z]/.test(word) && !quoted.has(word))) continue;
    for (const family of FAMILIES) {
      const id = graph.nameIds.get(hashName(family, word));
      if (id !== undefined) found.add(id);
    }
  }
  return found;
}
