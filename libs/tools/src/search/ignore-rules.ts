import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ignore, { type Ignore } from "ignore";

/** A larger ignore file is not read. */
const IGNORE_FILE_BYTES_MAX = 1024 * 1024;

/** What is never anybody's work, whatever a project's ignore files say of it. */
const IGNORED_ALWAYS = ["node_modules/"];

/** Rules of one directory, which hold for what is below it. */
interface DirectoryRules {
  /** Relative to the workspace; empty: the workspace itself. */
  readonly directory: string;
  readonly rules: Ignore;
}

/**
 * Which paths of a workspace are ignored: as git does it, by the ignore files from the workspace down to the path's directory, the nearest first, and by what
 * `.git/info/exclude` says. What is below an ignored directory is ignored. Made for one look at a workspace; rules are immutable.
 */
export class IgnoreRules {
  readonly #chain: readonly DirectoryRules[];
  readonly #names: readonly string[];

  private constructor(chain: readonly DirectoryRules[], names: readonly string[]) {
    this.#chain = chain;
    this.#names = names;
  }

  /** The rules at the top of a workspace. `names`: of the files that have rules, for example .gitignore. */
  static of(root: string, names: readonly string[]): IgnoreRules {
    return IgnoreRules.above(excludeText(root), names).within(root, "");
  }

  /** What holds before any ignore file: `exclude` is the text of `.git/info/exclude`. */
  static above(exclude: string, names: readonly string[]): IgnoreRules {
    return new IgnoreRules([{ directory: "", rules: ignore().add(IGNORED_ALWAYS) }], names).with("", exclude);
  }

  /** No rules but those of the directories that are walked into. */
  static none(names: readonly string[]): IgnoreRules {
    return new IgnoreRules([], names);
  }

  /** The rules in a directory, which are those above it and its own. */
  within(root: string, directory: string): IgnoreRules {
    return this.#names.reduce<IgnoreRules>((rules, name) => rules.with(directory, ignoreText(join(root, directory, name))), this);
  }

  /** With the rules of an ignore file in a directory; the same where it has none. */
  with(directory: string, text: string): IgnoreRules {
    return text === "" ? this : new IgnoreRules([...this.#chain, { directory, rules: ignore().add(text) }], this.#names);
  }

  /** Whether a path is ignored, given that its directory is not. */
  isIgnored(path: string, isDirectory: boolean): boolean {
    for (let index = this.#chain.length - 1; index >= 0; index--) {
      const { directory, rules } = this.#chain[index] as DirectoryRules;
      const relative = directory === "" ? path : path.slice(directory.length + 1);
      // A name that the library does not take as a path has a form that no rule can mean.
      if (!ignore.isPathValid(relative)) continue;
      const { ignored, unignored } = rules.test(isDirectory ? `${relative}/` : relative);
      if (ignored) return true;
      if (unignored) return false;
    }
    return false;
  }
}

/** What `.git/info/exclude` of a workspace says. */
export function excludeText(root: string): string {
  return ignoreText(join(root, ".git", "info", "exclude"));
}

/** The text of an ignore file, if it is a regular file itself: a link may lead anywhere. Empty where there is none, or none that may be read. */
export function ignoreText(path: string): string {
  try {
    const stat = lstatSync(path);
    return stat.isFile() && stat.size <= IGNORE_FILE_BYTES_MAX ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}
