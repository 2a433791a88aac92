import { type Dirent, readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { ContainedFiles, DATA_MARKER } from "./contained-files.ts";
import { decodeText } from "./decode-text.ts";
import { IGNORE_BYTES_MAX, IGNORE_FILES, IgnoreRules } from "./ignore-rules.ts";
import { repositoryRoot } from "./repository-root.ts";

/** Directories that no part of a project is in, ignored or not. Git's own files and Forge's data are left out besides. */
export const LEFT_OUT: ReadonlySet<string> = new Set([".git", "node_modules"]);
/** Of directories in directories. */
export const DEPTH_MAX = 64;

/** What a directory holds that is not ignored; names in order. */
export interface Listing {
  readonly files: readonly string[];
  readonly directories: readonly string[];
  /** With those of the directory's own ignore files. */
  readonly rules: IgnoreRules;
}

/**
 * Lists a directory, "" being the root; `above` are the rules of the directories above it. Links and what is neither file nor directory are left out. Empty
 * where it can't be listed any more. Undefined where it is one of Forge's data.
 */
export function listDirectory(files: ContainedFiles, directory: string, above: IgnoreRules): Listing | undefined {
  let entries: Dirent[];
  try {
    entries = readdirSync(join(files.root, directory), { withFileTypes: true });
  } catch {
    // It vanished or may not be read: what can't be seen is no part of what is listed.
    return { files: [], directories: [], rules: above };
  }
  const names = new Set(entries.map(({ name }) => name));
  if (names.has(DATA_MARKER)) return undefined;
  const rules = rulesOf(files, directory, above, names);
  const found: { files: string[]; directories: string[] } = { files: [], directories: [] };
  for (const entry of entries) {
    const path = directory === "" ? entry.name : `${directory}/${entry.name}`;
    // A name that is no UTF-8 can't be opened by what was decoded of it.
    if (entry.name.includes("\ufffd") || (!entry.isFile() && !entry.isDirectory())) continue;
    if (entry.isDirectory() && (LEFT_OUT.has(entry.name.toLowerCase()) || path === ".forge/data" || path.endsWith("/.forge/data"))) continue;
    if (rules.isIgnored(path, entry.isDirectory())) continue;
    (entry.isDirectory() ? found.directories : found.files).push(entry.name);
  }
  return { files: found.files.toSorted(), directories: found.directories.toSorted(), rules };
}

/** The rules that hold in a directory: those of all directories from the root down to it, and of git's own list. */
export function rulesAbove(files: ContainedFiles, directory: string): IgnoreRules {
  let rules = rootRules(files);
  const parts = directory.split("/").filter(Boolean);
  for (let depth = 0; depth < parts.length; depth++) rules = rulesOf(files, parts.slice(0, depth).join("/"), rules, undefined);
  return rules;
}

/** Ignore files above the root that hold in it, relative to it, in the order in which the later ones win. */
export function outerIgnoreFiles(root: string): readonly { readonly path: string; readonly offset: string }[] {
  const parts = relative(repositoryRoot(root), root).split(sep).filter(Boolean);
  const up = (depth: number): string => "../".repeat(parts.length - depth);
  const offset = (depth: number): string =>
    parts
      .slice(depth)
      .map((part) => `${part}/`)
      .join("");
  const found = [{ path: `${up(0)}.git/info/exclude`, offset: offset(0) }];
  for (let depth = 0; depth < parts.length; depth++) found.push(...IGNORE_FILES.map((name) => ({ path: up(depth) + name, offset: offset(depth) })));
  return found;
}

/** Those of the directories above the root, up to the repository's own root, and of git's own list there. None where they leave nothing of the root. */
export function rootRules(files: ContainedFiles): IgnoreRules {
  const repository = new ContainedFiles(repositoryRoot(files.root));
  let rules = IgnoreRules.NONE;
  for (const { path, offset } of outerIgnoreFiles(files.root)) {
    const inRepository = relative(repository.root, join(files.root, path));
    rules = rules.within("", [readIgnored(repository, inRepository, inRepository.startsWith(".git"))], offset);
  }
  return rules.isRootIgnored ? IgnoreRules.NONE : rules;
}

/** The files below a directory, those of each directory before those of the directories in it. Paths are relative to the root. */
export function* walkFiles(files: ContainedFiles, start: string): Generator<string> {
  const pending = [{ directory: start, above: rulesAbove(files, start), depth: 0 }];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const listing = listDirectory(files, next.directory, next.above);
    if (listing === undefined) continue;
    const prefix = next.directory === "" ? "" : `${next.directory}/`;
    for (const name of listing.files) yield prefix + name;
    if (next.depth < DEPTH_MAX)
      pending.unshift(...listing.directories.map((name) => ({ directory: prefix + name, above: listing.rules, depth: (next?.depth ?? 0) + 1 })));
  }
}

function rulesOf(files: ContainedFiles, directory: string, above: IgnoreRules, names: ReadonlySet<string> | undefined): IgnoreRules {
  const found = IGNORE_FILES.filter((name) => names?.has(name) ?? true);
  return above.within(
    directory,
    found.map((name) => readIgnored(files, directory === "" ? name : `${directory}/${name}`, false)),
  );
}

/** Empty where there is none, or none that can be read. */
function readIgnored(files: ContainedFiles, path: string, isGits: boolean): string {
  try {
    const { bytes, size } = isGits ? files.readProtected(path, IGNORE_BYTES_MAX) : files.read(path, IGNORE_BYTES_MAX);
    return decodeText(bytes, path, size > bytes.length);
  } catch {
    // An ignore file that is no text, or a link out of the workspace, ignores nothing; git does not follow such a link either.
    return "";
  }
}
