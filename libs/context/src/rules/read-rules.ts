import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { ContainedFiles, isInside } from "../files/contained-files.ts";
import { decodeText } from "../files/decode-text.ts";
import { fileError } from "../files/file-error.ts";
import { lstatIfThere } from "../files/lstat-if-there.ts";
import { type Problem, problemOf } from "../files/problem.ts";
import { repositoryRoot } from "../files/repository-root.ts";
import { underHome } from "../files/user-directory.ts";
import { visibleText } from "../files/visible-text.ts";
import { findMentions } from "../references/find-mentions.ts";

/** Of one file; what is longer is cut. */
export const RULE_BYTES_MAX = 32 * 1024;
/** Of files, imports included. */
export const RULE_FILES_MAX = 64;
/** Of imports of imports. */
const IMPORT_DEPTH_MAX = 4;
const IMPORTS_MAX = 16;
/** Of paths at hand whose directories are looked at. */
const PATHS_MAX = 256;

/** In each directory the first that is there. */
const RULE_NAMES = ["AGENTS.md", "CLAUDE.md"];
/** In the person's own configuration. */
const USER_RULES = "AGENTS.md";

/** Rules as a file tells them. */
export interface Rule {
  /** The path relative to the workspace; `../` where the repository begins above it. The person's own as seen from his home, `~/`. */
  readonly source: string;
  readonly scope: "user" | "workspace";
  readonly text: string;
  /** Of the whole file. */
  readonly size: number;
  /** The text is only its beginning. */
  readonly isCut: boolean;
  /** Of an import: the source that named it. */
  readonly importedBy?: string;
}

export interface RulesOptions {
  readonly root: string;
  /** Files and directories at hand, relative to the workspace; the rules of every directory on the way to them hold. */
  readonly paths?: readonly string[];
  /** The person's own, with an AGENTS.md in it; absent: none. */
  readonly configDirectory?: string;
}

/** The rules that hold for some paths: the person's own, then from the repository's root down, so that the nearest comes last. */
export function readRules(options: RulesOptions): { rules: Rule[]; problems: Problem[] } {
  const workspace = new ContainedFiles(options.root);
  const reader = new RulesReader(new ContainedFiles(repositoryRoot(workspace.root)), workspace.root);
  if (options.configDirectory !== undefined) reader.readUsers(join(options.configDirectory, USER_RULES));
  for (const directory of directoriesOf(workspace, options.paths ?? [], reader.repository.root)) reader.readDirectory(directory);
  return { rules: reader.rules, problems: reader.problems };
}

/** The directories from the repository's root down to the paths; those above before those below. Absolute. */
function directoriesOf(workspace: ContainedFiles, paths: readonly string[], top: string): string[] {
  const found = new Set<string>();
  for (const path of [".", ...paths.slice(0, PATHS_MAX)]) {
    let directory = join(workspace.root, path);
    // Of what is not there yet, a file to be written, the directories that are.
    while (!isDirectory(directory) && directory !== dirname(directory)) directory = dirname(directory);
    for (; isInside(top, directory); directory = dirname(directory)) {
      found.add(directory);
      if (directory === top) break;
    }
  }
  const depth = (path: string): number => path.split("/").length;
  return [...found].toSorted((one, other) => depth(one) - depth(other) || (one < other ? -1 : 1));
}

/** A link to one is none: its rules are those of where it leads. */
function isDirectory(path: string): boolean {
  return lstatIfThere(path)?.isDirectory() ?? false;
}

class RulesReader {
  readonly repository: ContainedFiles;
  readonly rules: Rule[] = [];
  readonly problems: Problem[] = [];
  readonly #workspaceRoot: string;
  /** Real paths that were read, so that nothing is told twice and no circle is followed. */
  readonly #read = new Set<string>();

  constructor(repository: ContainedFiles, workspaceRoot: string) {
    this.repository = repository;
    this.#workspaceRoot = workspaceRoot;
  }

  /** A person's own file is his, wherever his links lead. */
  readUsers(path: string): void {
    if (!existsSync(path)) return;
    const source = underHome(path);
    try {
      // A link there is followed on purpose: people keep such files in a repository of their own.
      const real = realpathSync(path);
      this.#add(new ContainedFiles(dirname(real)), basename(real), { source, scope: "user" });
    } catch (error) {
      this.problems.push(problemOf(source, fileError(error, source)));
    }
  }

  readDirectory(directory: string): void {
    const name = RULE_NAMES.find((candidate) => lstatIfThere(join(directory, candidate)) !== undefined);
    if (name !== undefined) this.#readProjects(join(directory, name), undefined, 0);
  }

  #readProjects(path: string, importedBy: string | undefined, depth: number): void {
    const source = relative(this.#workspaceRoot, path);
    try {
      const rule = this.#add(this.repository, relative(this.repository.root, path), { source, scope: "workspace", importedBy });
      // AGENTS.md has no imports: an @ in it is text.
      if (rule !== undefined && (importedBy !== undefined || basename(path) === "CLAUDE.md")) this.#import(path, rule, depth);
    } catch (error) {
      this.problems.push(problemOf(source, error));
    }
  }

  #import(path: string, rule: Rule, depth: number): void {
    let imports = 0;
    for (const { candidates, isQuoted } of findMentions(rule.text)) {
      const named = candidates.find((candidate) => existsSync(join(dirname(path), candidate.path))) ?? candidates.at(-1);
      // An @ that names no text file is a name in a sentence, for example of a package.
      if (named === undefined || (!isQuoted && !/\.(?:md|mdx|mdc|txt)$/i.test(named.path))) continue;
      const problem = (message: string): number => this.problems.push({ source: `${rule.source}: @${named.path}`, message });
      if (depth === IMPORT_DEPTH_MAX) problem(`an import is followed ${IMPORT_DEPTH_MAX} deep, and this one is not`);
      else if (++imports > IMPORTS_MAX) problem(`a file has at most ${IMPORTS_MAX} imports, and this one is not followed`);
      else if (named.path.startsWith("~") || isAbsolute(named.path)) problem("leads out of the workspace");
      else this.#readProjects(join(dirname(path), named.path), rule.source, depth + 1);
    }
  }

  /** Undefined where it was read before. Throws what refuses it. */
  #add(files: ContainedFiles, path: string, { source, scope, importedBy }: Pick<Rule, "source" | "scope" | "importedBy">): Rule | undefined {
    const real = files.resolve(path);
    if (this.#read.has(real)) return undefined;
    this.#read.add(real);
    if (this.rules.length === RULE_FILES_MAX) {
      this.problems.push({ source, message: `at most ${RULE_FILES_MAX} files of rules are read` });
      return undefined;
    }
    const { bytes, size } = files.read(path, RULE_BYTES_MAX);
    const isCut = size > bytes.length;
    const { text, takenOut } = visibleText(decodeText(bytes, source, isCut));
    const rule = { source, scope, text, size, isCut, ...(importedBy === undefined ? {} : { importedBy }) };
    if (text.trim() !== "") this.rules.push(rule);
    if (takenOut > 0) this.problems.push({ source, message: `${takenOut} characters that nobody sees are taken out` });
    if (isCut) this.problems.push({ source, message: `only the first ${RULE_BYTES_MAX} of its ${size} bytes are read` });
    return rule;
  }
}
