import type { Dirent, Stats } from "node:fs";
import { excludeText, IgnoreRules, ignoreText } from "../search/ignore-rules.ts";
import type { IsForbidden } from "../workspace/forbidden-paths.ts";
import { DATA_MARKER, isProtectedName } from "../workspace/protected-names.ts";
import { isTemporaryName } from "../workspace/temporary-name.ts";
import type { ContentPack } from "./content-pack.ts";
import { gitMarks, markedChanges, nestedMarks } from "./git-marks.ts";
import { entriesIn, isFresh, isOther, isSame, look, namesIn, stampOf, stampText } from "./look.ts";
import { type DirectoryNode, emptyDirectory, type FileNode } from "./manifest.ts";
import type { Observation, ObservedChange } from "./observed-file.ts";
import { readObserved } from "./read-observed.ts";
import { ScanNotes } from "./scan-notes.ts";

const IGNORE_FILE = ".gitignore";
const REPOSITORY = ".git";
/** With more a workspace is not observed. */
export const FILES_MAX = 500_000;
/** Ignored things that are looked at in one pass. */
const IGNORED_LOOKS_MAX = 2_000;

export interface ScannerOptions {
  /** The workspace's real path. */
  readonly root: string;
  /** Paths that tools neither read nor write, beside those that are protected. */
  readonly isForbidden: IsForbidden;
  readonly pack: ContentPack;
}

/** One look at everything. */
interface Pass {
  readonly changes: ObservedChange[];
  readonly notes: ScanNotes;
  /** Directories below the root that have a repository. */
  readonly repositories: string[];
  ignoredLooks: number;
  files: number;
}

/** A directory on the way down. */
interface Visit {
  readonly path: string;
  readonly absolute: string;
  readonly rules: IgnoreRules;
  /** Whether what is new here is told. What was ignored before, or was never looked at, is only seen for the first time: it may have been there for long. */
  readonly isTold: boolean;
  /** Whether an ignore file above is another one than when a stored manifest was made, which was sorted by it. */
  readonly isUnsorted: boolean;
}

/**
 * Knows every file of a workspace that is not ignored, and finds what is different since it last looked: one lstat for each file and directory, and nothing else
 * for what has not changed. Synchronous, for a thread of its own. Links are not followed.
 */
export class WorkspaceScanner {
  readonly #options: ScannerOptions;
  readonly #root: DirectoryNode;
  #marks: ReadonlyMap<string, string> = new Map();
  #above: { readonly exclude: string; readonly rules: IgnoreRules } | undefined;
  #isFirst = true;
  #pass: Pass = newPass();

  /** `known`: what an earlier scanner knew, so that only what is different from that is read. */
  constructor(options: ScannerOptions, known: DirectoryNode = emptyDirectory()) {
    this.#options = options;
    this.#root = known;
  }

  get manifest(): DirectoryNode {
    return this.#root;
  }

  /** Looks at everything. The first time nothing is told: it is how things were. Throws where there are more than FILES_MAX files. */
  scan(): Observation {
    const { root } = this.#options;
    this.#pass = newPass();
    const ownMarks = gitMarks(root);
    const exclude = excludeText(root);
    if (this.#above?.exclude !== exclude) this.#above = { exclude, rules: IgnoreRules.above(exclude, [IGNORE_FILE]) };
    this.#directory(this.#root, { path: "", absolute: root, rules: this.#above.rules, isTold: !this.#isFirst, isUnsorted: false });
    const marks = new Map([...ownMarks, ...nestedMarks(root, this.#pass.repositories)]);
    const notes = [...this.#pass.notes.texts(), ...markedChanges(this.#marks, marks)];
    this.#marks = marks;
    if (this.#isFirst) {
      this.#isFirst = false;
      return { changes: [], notes: [] };
    }
    return { changes: this.#pass.changes, notes };
  }

  /** Takes what is at these paths now as how things are: Forge has changed them by its own hand, and told so. */
  refresh(paths: readonly string[]): void {
    for (const path of paths) {
      const parts = path.split("/");
      const name = parts.pop() as string;
      const node = this.#nodeAt(parts);
      if (node === undefined) continue;
      const stat = look(`${this.#options.root}/${path}`);
      // Only the next look can tell whether other names came or went.
      node.isFresh = true;
      if (stat === undefined) node.files.delete(name);
      else if (stat.isFile() && node.rules?.own.isIgnored(path, false) !== true && !this.#options.isForbidden(path)) {
        const found = this.#read(`${this.#options.root}/${path}`, stat);
        if (found !== undefined) node.files.set(name, found);
      }
    }
  }

  /** The contents that are needed to undo what may happen. */
  contents(): Set<string> {
    const found = new Set<string>();
    const pending = [this.#root];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      for (const { file } of node.files.values()) found.add(file.sha256);
      pending.push(...node.directories.values());
    }
    return found;
  }

  /** The directory of a path, made known where it is new. Undefined: it is ignored, or nothing was looked at yet. */
  #nodeAt(parts: readonly string[]): DirectoryNode | undefined {
    let node = this.#root;
    let path = "";
    for (const part of parts) {
      path = path === "" ? part : `${path}/${part}`;
      const { rules } = node;
      if (rules === undefined) return undefined;
      let next = node.directories.get(part);
      if (next === undefined) {
        if (rules.own.isIgnored(path, true) || this.#options.isForbidden(path)) return undefined;
        next = emptyDirectory();
        const text = ignoreText(`${this.#options.root}/${path}/${IGNORE_FILE}`);
        next.rules = { above: rules.own, text, own: rules.own.with(path, text) };
        node.directories.set(part, next);
      }
      node = next;
    }
    return node.rules === undefined ? undefined : node;
  }

  #directory(node: DirectoryNode, visit: Visit): void {
    const stat = look(visit.absolute);
    if (!stat?.isDirectory()) {
      this.#vanish(node, visit.path);
      return;
    }
    const areNamesKnown = !node.isFresh && isSame(node.stamp, stat);
    const mayHaveRules = !areNamesKnown || node.files.has(IGNORE_FILE) || node.ignored.has(IGNORE_FILE);
    const ignoreFile = mayHaveRules ? look(`${visit.absolute}/${IGNORE_FILE}`) : undefined;
    const before = node.rules;
    const isUnsorted = before === undefined && (visit.isUnsorted || isOther(node.files.get(IGNORE_FILE), ignoreFile));
    const rules = this.#rulesOf(node, visit, ignoreFile);
    if (!areNamesKnown || isUnsorted || (before !== undefined && before.own !== rules.own)) this.#list(node, visit, stat, rules.own);
    if (node.hasRepository && visit.path !== "") this.#pass.repositories.push(visit.path);
    const prefix = visit.path === "" ? "" : `${visit.path}/`;
    for (const [name, file] of node.files) this.#file(node, name, file, prefix + name, `${visit.absolute}/${name}`, visit.isTold);
    for (const [name, child] of node.directories) {
      this.#directory(child, { path: prefix + name, absolute: `${visit.absolute}/${name}`, rules: rules.own, isTold: visit.isTold, isUnsorted });
      if (child.stamp === undefined) node.directories.delete(name);
    }
    this.#lookAtIgnored(node, visit, prefix);
  }

  /** The rules in a directory; the same object as long as they say the same. */
  #rulesOf(node: DirectoryNode, { path, absolute, rules: above }: Visit, ignoreFile: Stats | undefined): NonNullable<DirectoryNode["rules"]> {
    const stamp = ignoreFile === undefined ? "" : stampText(ignoreFile);
    if (node.rules !== undefined && node.rules.above === above && node.ignoreStamp === stamp) return node.rules;
    const isYoung = ignoreFile !== undefined && isFresh(ignoreFile);
    const text = ignoreFile === undefined ? "" : ignoreText(`${absolute}/${IGNORE_FILE}`);
    if (node.rules === undefined || node.rules.above !== above || node.rules.text !== text) node.rules = { above, text, own: above.with(path, text) };
    node.ignoreStamp = isYoung ? undefined : stamp;
    return node.rules;
  }

  /** Reads which names there are, and sorts them. */
  #list(node: DirectoryNode, { path, absolute, isTold }: Visit, stat: Stats, rules: IgnoreRules): void {
    node.stamp = stampOf(stat);
    node.isFresh = isFresh(stat);
    const entries = entriesIn(absolute);
    node.hasRepository = entries.some(({ name }) => name.toLowerCase() === REPOSITORY);
    if (path !== "" && entries.some(({ name }) => name === DATA_MARKER)) {
      // Forge's data is nobody's work; it is as if it were not there.
      for (const known of [node.files, node.directories, node.ignored]) known.clear();
      return;
    }
    const prefix = path === "" ? "" : `${path}/`;
    const present = new Set<string>();
    for (const entry of entries) this.#sort(node, entry, prefix + entry.name, `${absolute}/${entry.name}`, rules, isTold, present);
    for (const [name, { file }] of node.files) {
      if (present.has(name)) continue;
      node.files.delete(name);
      this.#tell(isTold, { path: prefix + name, before: file, after: undefined });
    }
    for (const [name, child] of node.directories) {
      if (present.has(name)) continue;
      node.directories.delete(name);
      if (isTold) this.#vanish(child, prefix + name);
    }
    for (const name of node.ignored.keys()) {
      if (present.has(name)) continue;
      node.ignored.delete(name);
      if (isTold) this.#noteIgnored(prefix + name);
    }
  }

  #sort(node: DirectoryNode, entry: Dirent, path: string, absolute: string, rules: IgnoreRules, isTold: boolean, present: Set<string>): void {
    const { name } = entry;
    const isDirectory = entry.isDirectory();
    if (isProtectedName(path) || isTemporaryName(name) || !(isDirectory || entry.isFile() || entry.isSymbolicLink())) return;
    const mark = isDirectory ? `${name}/` : name;
    if (rules.isIgnored(path, isDirectory) || this.#options.isForbidden(path)) {
      present.add(mark);
      if (node.ignored.has(mark)) return;
      node.ignored.set(mark, "");
      const wasKnown = isDirectory ? node.directories.delete(name) : node.files.delete(name);
      if (!isTold) return;
      if (wasKnown) this.#pass.notes.nowIgnored();
      else this.#noteIgnored(isDirectory ? `${path}/` : path);
      return;
    }
    present.add(name);
    const wasIgnored = node.ignored.delete(mark);
    if (wasIgnored && isTold) this.#pass.notes.noLongerIgnored();
    if (isDirectory) {
      if (node.directories.has(name)) return;
      const child = emptyDirectory();
      node.directories.set(name, child);
      // Seen for the first time here, where it was ignored; after that it is one like others.
      if (wasIgnored) this.#directory(child, { path, absolute, rules, isTold: false, isUnsorted: false });
    } else if (!node.files.has(name)) this.#newFile(node, name, path, absolute, isTold && !wasIgnored);
  }

  #newFile(node: DirectoryNode, name: string, path: string, absolute: string, isTold: boolean): void {
    const stat = look(absolute);
    const found = stat === undefined ? undefined : this.#read(absolute, stat);
    if (found === undefined) {
      // It went away again, or is becoming something else; the next look tells.
      node.isFresh = true;
      return;
    }
    node.files.set(name, found);
    this.#tell(isTold, { path, before: undefined, after: found.file });
  }

  #file(node: DirectoryNode, name: string, known: FileNode, path: string, absolute: string, isTold: boolean): void {
    if (++this.#pass.files > FILES_MAX) throw new Error(`the workspace has more than ${FILES_MAX} files`);
    const stat = look(absolute);
    if (stat !== undefined && !known.isFresh && isSame(known, stat) && stat.size === known.file.size && (stat.mode & 0o7777) === known.file.mode) return;
    const found = stat === undefined ? undefined : this.#read(absolute, stat);
    if (stat === undefined || found === undefined) {
      node.files.delete(name);
      node.isFresh = true;
      this.#tell(isTold, { path, before: known.file, after: undefined });
      return;
    }
    node.files.set(name, found);
    const { file } = found;
    const { sha256, mode, isLink, size } = known.file;
    if (file.sha256 !== sha256 || file.mode !== mode || file.isLink !== isLink || file.size !== size || (sha256 === "" && !isSame(known, stat))) {
      this.#tell(isTold, { path, before: known.file, after: file });
    }
  }

  /** Undefined where it is neither a file nor a link, or is one no longer. */
  #read(absolute: string, stat: Stats): FileNode | undefined {
    if (!stat.isFile() && !stat.isSymbolicLink()) return undefined;
    // As of before it is read.
    const isYoung = isFresh(stat);
    const file = readObserved(absolute, stat, this.#options.pack);
    return file === undefined ? undefined : { ...stampOf(stat), file, isFresh: isYoung };
  }

  /** All that was in a directory is gone. */
  #vanish(node: DirectoryNode, path: string): void {
    const isTold = !this.#isFirst;
    const prefix = path === "" ? "" : `${path}/`;
    for (const [name, { file }] of node.files) this.#tell(isTold, { path: prefix + name, before: file, after: undefined });
    for (const [name, child] of node.directories) this.#vanish(child, prefix + name);
    for (const name of node.ignored.keys()) if (isTold) this.#noteIgnored(prefix + name);
    for (const known of [node.files, node.directories, node.ignored]) known.clear();
    node.hasRepository = false;
    node.stamp = undefined;
  }

  /** Things that are ignored are looked at only so far that people can be told that they changed. */
  #lookAtIgnored(node: DirectoryNode, { absolute, isTold }: Visit, prefix: string): void {
    for (const [name, before] of node.ignored) {
      if (this.#pass.ignoredLooks >= IGNORED_LOOKS_MAX) return;
      const mark = this.#markOf(`${absolute}/${name}`, name.endsWith("/"));
      if (mark === before) continue;
      node.ignored.set(name, mark);
      if (isTold && before !== "") this.#noteIgnored(prefix + name);
    }
  }

  #markOf(absolute: string, isDirectory: boolean): string {
    const marks = [this.#mark(absolute)];
    if (isDirectory) {
      for (const name of namesIn(absolute)) {
        if (this.#pass.ignoredLooks >= IGNORED_LOOKS_MAX) break;
        marks.push(this.#mark(absolute + name));
      }
    }
    return marks.join(" ");
  }

  #mark(absolute: string): string {
    this.#pass.ignoredLooks++;
    const stat = look(absolute.endsWith("/") ? absolute.slice(0, -1) : absolute);
    return stat === undefined ? "-" : stampText(stat);
  }

  #noteIgnored(path: string): void {
    if (this.#options.isForbidden(path.endsWith("/") ? path.slice(0, -1) : path)) this.#pass.notes.forbidden(path);
    else this.#pass.notes.ignored(path);
  }

  #tell(isTold: boolean, change: ObservedChange): void {
    if (isTold) this.#pass.changes.push(change);
  }
}

function newPass(): Pass {
  return { changes: [], notes: new ScanNotes(), repositories: [], ignoredLooks: 0, files: 0 };
}
