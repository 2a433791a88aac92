import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Language as Grammar, Parser, Query } from "web-tree-sitter";
import { LANGUAGES, type Language } from "./languages.ts";
import { type Definition, type FileSymbols, hashName, NO_SYMBOLS } from "./symbols.ts";

const require = createRequire(import.meta.url);
/** The package exports no way to its files but their paths. */
const GRAMMARS = join(dirname(require.resolve("@vscode/tree-sitter-wasm/package.json")), "wasm");

/** Of one file. */
const DEFINITIONS_MAX = 300;
const REFERENCES_MAX = 400;
/** A line that stands for a definition. */
const SIGNATURE_LENGTH_MAX = 100;
const NAME_LENGTH_MAX = 100;
/** A file that was made to be hard to read is left after this; by default. */
const PARSE_MS_MAX = 2_000;
/** Of matches that a query follows at once. */
const MATCHES_MAX = 4_096;
/** A file with longer lines on average was written by a program, for example a bundle: its names say nothing. */
const LINE_LENGTH_MAX = 400;

/** What no line of a map may hold. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/** What generators write at the beginning of a file. */
const GENERATED = /@generated|\bgenerated (?:by|from|code)\b|\bcode generated\b|\bdo not edit\b/i;
const HEAD_LENGTH = 1_000;
// What is never closed goes to the end, of the text or the line: otherwise each beginning of many would be followed to the end in vain.
const PROSE = {
  "//": /\/\*(?:[^]*?\*\/|[^]*)|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"?/g,
  "#": /"""(?:[^]*?"""|[^]*)|'''(?:[^]*?'''|[^]*)|#[^\n]*|"(?:[^"\\\n]|\\.)*"?/g,
} as const;
/** Of the languages: what names a type or a piece of syntax does not name a definition of that name. */
const KEYWORDS: ReadonlySet<string> = new Set(
  (
    "abstract any assert async await bool boolean break byte case catch chan char class const continue declare def default defer delete double elif else end enum " +
    "except export extends false final finally float for fn foreach from func function get goto impl implements import infer int interface internal let long " +
    "map match mod module mut namespace never new nil none not null number object operator override package pass private protected public raise range readonly " +
    "record ref require return select self set short signed static str string struct super switch symbol template then this throw throws trait true try type typeof " +
    "undefined union unknown unless unsafe unsigned until use using var virtual void volatile when where while with yield None True False String Self"
  ).split(" "),
);
const NAMES = /[A-Za-z_$][\w$]{2,99}/g;

interface Loaded {
  readonly parser: Parser;
  readonly query: Query;
}

/** Finds the definitions of a file by its grammar, and the names that stand in it. One at a time; `create` loads what all languages share. */
export class SymbolParser {
  readonly #parseMsMax: number;
  readonly #loaded = new Map<string, Promise<Loaded>>();

  /** Errors: the module's own, where its files are missing. */
  static async create(parseMsMax = PARSE_MS_MAX): Promise<SymbolParser> {
    await Parser.init();
    return new SymbolParser(parseMsMax);
  }

  private constructor(parseMsMax: number) {
    this.#parseMsMax = parseMsMax;
  }

  /** What a text defines and names; nothing where it takes too long or can't be parsed at all. */
  async parse(text: string, language: Language): Promise<FileSymbols> {
    if (text.length > LINE_LENGTH_MAX && text.length > LINE_LENGTH_MAX * (text.split("\n", text.length).length + 1)) return NO_SYMBOLS;
    const { parser, query } = await this.#load(language);
    const definitions = definitionsOf(parser, query, text, performance.now() + this.#parseMsMax);
    if (definitions === undefined) return NO_SYMBOLS;
    const names = definitions.map(({ name }) => hashName(language.family, name));
    return { definitions, names, references: referencesOf(text, language), isGenerated: GENERATED.test(text.slice(0, HEAD_LENGTH)) };
  }

  #load(language: Language): Promise<Loaded> {
    const known = this.#loaded.get(language.name);
    if (known !== undefined) return known;
    const loading = this.#read(language);
    this.#loaded.set(language.name, loading);
    return loading;
  }

  async #read({ grammar: name, query }: Language): Promise<Loaded> {
    const grammar = await Grammar.load(await readFile(join(GRAMMARS, `tree-sitter-${name}.wasm`)));
    return { parser: new Parser().setLanguage(grammar), query: new Query(grammar, query) };
  }
}

/** Changes with everything that changes what is found in a text, so that what was found by an older one is found anew. */
export const PARSER_VERSION = `4 ${hashName("", JSON.stringify([LANGUAGES, DEFINITIONS_MAX, REFERENCES_MAX, SIGNATURE_LENGTH_MAX, LINE_LENGTH_MAX]))}`;

function definitionsOf(parser: Parser, query: Query, text: string, until: number): Definition[] | undefined {
  const isLate = (): boolean => performance.now() > until;
  const tree = parser.parse(text, undefined, { progressCallback: isLate });
  if (tree === null) {
    parser.reset();
    return undefined;
  }
  try {
    const lines = text.split("\n");
    const found = new Map<string, Definition>();
    for (const { node } of query.captures(tree.rootNode, { matchLimit: MATCHES_MAX, progressCallback: isLate })) {
      if (found.size === DEFINITIONS_MAX || isLate()) break;
      const name = node.text;
      const row = node.startPosition.row;
      if (name.length > NAME_LENGTH_MAX || CONTROL.test(name)) continue;
      // A name of C++ may be qualified: others call it by its last part.
      const key = `${row} ${name}`;
      const line = lines[row] ?? "";
      if (!found.has(key)) found.set(key, { name: lastPart(name), line: row + 1, signature: signatureOf(line), isNested: /^[ \t]/.test(line) });
    }
    return [...found.values()].toSorted((one, other) => one.line - other.line);
  } finally {
    tree.delete();
  }
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf("::") + (name.includes("::") ? 2 : 1));
}

function signatureOf(line: string): string {
  const text = line
    .slice(0, 1_000)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
    .trim()
    .replace(/ ?\{$/, "");
  return text.length <= SIGNATURE_LENGTH_MAX ? text : `${text.slice(0, SIGNATURE_LENGTH_MAX).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** Words rather than syntax: fast, and the same for every language. Comments and strings are prose, whose words are names by chance. */
function referencesOf(text: string, { family, comments }: Language): number[] {
  const hashes = new Set<number>();
  for (const [name] of text.replaceAll(PROSE[comments], " ").matchAll(NAMES)) {
    if (!KEYWORDS.has(name)) hashes.add(hashName(family, name));
    if (hashes.size === REFERENCES_MAX) break;
  }
  return [...hashes];
}
