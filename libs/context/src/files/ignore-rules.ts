import ignore, { type Ignore } from "ignore";

/** Read in every directory; the later ones win. */
export const IGNORE_FILES = [".gitignore", ".ignore"];
/** Of one ignore file. */
export const IGNORE_BYTES_MAX = 256 * 1024;
const PATTERNS_MAX = 10_000;
/** A pattern becomes a regular expression, whose time grows with the power of its stars. Nobody needs more of them. */
const STARS_IN_A_NAME_MAX = 3;
const DOUBLE_STARS_MAX = 4;

/** The patterns of a directory's ignore files together with those of the directories above, as git reads them. Immutable. */
export class IgnoreRules {
  /** Nothing is ignored. */
  static readonly NONE = new IgnoreRules("", "", undefined, undefined);
  readonly #prefix: string;
  /** Of rules above the root: the root's own path there. */
  readonly #offset: string;
  readonly #patterns: Ignore | undefined;
  readonly #above: IgnoreRules | undefined;

  private constructor(prefix: string, offset: string, patterns: Ignore | undefined, above: IgnoreRules | undefined) {
    this.#prefix = prefix;
    this.#offset = offset;
    this.#patterns = patterns;
    this.#above = above;
  }

  /** These and the patterns of ignore files in a directory, "" being the root; `offset` is the root's path in a directory above it, "a/b/". */
  within(directory: string, texts: readonly string[], offset = ""): IgnoreRules {
    const patterns = texts.flatMap((text) => text.split(/\r?\n/).filter(isHarmless)).slice(0, PATTERNS_MAX);
    if (patterns.length === 0) return this;
    return new IgnoreRules(directory === "" ? "" : `${directory}/`, offset, ignore({ ignorecase: false }).add(patterns), this);
  }

  /** Whether rules above the root ignore the root itself, and so all that is in it. */
  get isRootIgnored(): boolean {
    const found = this.#offset === "" ? undefined : this.#patterns?.test(this.#offset);
    if (found?.ignored === true || found?.unignored === true) return found.ignored;
    return this.#above?.isRootIgnored ?? false;
  }

  /** Whether a path below the directory is ignored; the directories on the way to it are not. */
  isIgnored(path: string, isDirectory: boolean): boolean {
    const found = this.#patterns?.test(this.#offset + path.slice(this.#prefix.length) + (isDirectory ? "/" : ""));
    if (found?.ignored === true || found?.unignored === true) return found.ignored;
    return this.#above?.isIgnored(path, isDirectory) ?? false;
  }
}

function isHarmless(pattern: string): boolean {
  if (pattern === "" || pattern.startsWith("#")) return false;
  const names = pattern.split("/");
  return (
    names.filter((name) => name === "**").length <= DOUBLE_STARS_MAX &&
    names.every((name) => name === "**" || name.split("*").length - 1 <= STARS_IN_A_NAME_MAX)
  );
}
