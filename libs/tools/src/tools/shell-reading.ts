import { basename } from "node:path";

/** What a word of a command may be for it to only read. */
interface Grammar {
  /** Options that stand alone. */
  readonly flags?: RegExp;
  /** Options whose value is the next word. */
  readonly valued?: RegExp;
  /** What the rest is: files of the workspace, a pattern and then files, any text, or not allowed. */
  readonly operands?: "paths" | "pattern" | "text" | "revisions";
}

/** A command that only reads, and which of its words name files. */
export interface ReadingCommand {
  /** Each must lie in the workspace. */
  readonly paths: readonly string[];
  /** And be no directory, in which the command would read what nobody named. */
  readonly filesOnly: boolean;
  /** Of git, the words to run after the program: with what keeps a repository's own settings from running anything. */
  readonly gitWords?: readonly string[];
}

const DISPLAY =
  "-p|-u|--patch|--stat|--shortstat|--numstat|--summary|--name-only|--name-status|-w|-b|-M|-C|-R|--check|--raw|--color(?:=never)?|--no-color|-U\\d+|--unified=\\d+|--word-diff(?:=plain)?|--diff-filter=[A-Za-z]+|-s|--no-patch|-z";
const HISTORY =
  "--oneline|-\\d+|-n\\d+|--max-count=\\d+|--skip=\\d+|--graph|--decorate(?:=short|=full|=no)?|--all|--branches|--tags|--merges|--no-merges|-i|--follow|--first-parent|--reverse|--abbrev-commit|--(?:since|until|after|before|author|committer|grep)=[^%]*|--date=(?:iso|short|relative|local|default|unix|iso-strict|rfc)|--(?:format|pretty)=(?:(?!%G)[^])*|-[SG][^%]+";
const of = (...alternatives: string[]): RegExp => new RegExp(`^(?:${alternatives.join("|")})$`);

/** Options that start a program, write a file or look elsewhere are not among these, and so make a command one that is asked about. */
const GIT: Readonly<Record<string, Grammar>> = {
  status: {
    flags: of("-s|--short|-b|--branch|--porcelain(?:=v[12])?|--long|-v|-z|--ignored|-u(?:no|normal|all)?|--untracked-files(?:=no|=normal|=all)?"),
    operands: "revisions",
  },
  log: { flags: of(DISPLAY, HISTORY), valued: of("-n|-S|-G|--since|--until|--author|--grep"), operands: "revisions" },
  show: { flags: of(DISPLAY, HISTORY), operands: "revisions" },
  diff: { flags: of(DISPLAY, "--cached|--staged|--merge-base"), operands: "revisions" },
  branch: { flags: of("--list|-l|-a|--all|-r|--remotes|-v|-vv|--show-current|--no-color") },
  tag: { flags: of("--list|-l|-n\\d*") },
  remote: { flags: of("-v") },
  "rev-parse": {
    flags: of("--abbrev-ref|--short(?:=\\d+)?|--show-toplevel|--show-prefix|--verify|--git-dir|--is-inside-work-tree|--symbolic-full-name"),
    operands: "revisions",
  },
  "ls-files": { flags: of("-[mocdsz]+|--others|--cached|--modified|--deleted|--stage|--exclude-standard"), operands: "revisions" },
  describe: { flags: of("--tags|--always|--long|--all|--abbrev=\\d+"), operands: "revisions" },
};

/** git's own programs read this workspace only, and start none: beside the settings that gitReadingEnvironment takes away. */
const GIT_ADDED: Readonly<Record<string, readonly string[]>> = {
  status: ["--ignore-submodules=all"],
  log: ["--ignore-submodules=all", "--no-ext-diff", "--no-textconv", "--no-show-signature"],
  show: ["--ignore-submodules=all", "--no-ext-diff", "--no-textconv", "--no-show-signature"],
  diff: ["--ignore-submodules=all", "--no-ext-diff", "--no-textconv"],
};

const VERSION: Grammar = { flags: of("--version|-v|-V") };

const COMMANDS: Readonly<Record<string, Grammar>> = {
  basename: { operands: "text" },
  cat: { flags: of("-[nbsAETveu]+"), operands: "paths" },
  cmp: { flags: of("-[sl]"), operands: "paths" },
  date: { flags: of("-u|--utc|\\+.*") },
  diff: { flags: of("-[uNqwBbs]+|-U\\d+"), operands: "paths" },
  dirname: { operands: "text" },
  du: { flags: of("-[shack]+"), operands: "paths" },
  echo: { operands: "text" },
  false: {},
  file: { flags: of("-b|--brief"), operands: "paths" },
  find: {
    flags: of("-not|!|-o|-a|-empty|-print|-print0|-true"),
    valued: of("-name|-iname|-path|-ipath|-type|-maxdepth|-mindepth|-size|-mtime|-mmin"),
    operands: "paths",
  },
  grep: { flags: of("-[nivHhlLcowEFxsqay]+|-[ABCm]\\d+|--color=never"), valued: of("-[ABCm]"), operands: "pattern" },
  head: { flags: of("-\\d+|-[nc]-?\\d+|-q|-v|--(?:lines|bytes)=-?\\d+"), valued: of("-[nc]"), operands: "paths" },
  ls: { flags: of("-[aAlhrtSR1dFinsp]+|--(?:all|almost-all|human-readable|recursive)|--color=never"), operands: "paths" },
  md5sum: { operands: "paths" },
  node: VERSION,
  nodejs: VERSION,
  nl: { flags: of("-ba"), operands: "paths" },
  pwd: { flags: of("-[PL]") },
  python: VERSION,
  python3: VERSION,
  realpath: { operands: "paths" },
  rg: {
    flags: of(
      "-[nivHlcowFxsSNI]+|-[ABCm]\\d+|--(?:files|no-heading|line-number|count|smart-case|ignore-case|fixed-strings|word-regexp|files-with-matches)|-t[a-z]+|--type=[a-z]+|--color=never",
    ),
    valued: of("-[ABCmt]"),
    operands: "pattern",
  },
  sha1sum: { operands: "paths" },
  sha256sum: { operands: "paths" },
  stat: { operands: "paths" },
  tail: { flags: of("-\\d+|-[nc][+-]?\\d+|-q|-v|--(?:lines|bytes)=[+-]?\\d+"), valued: of("-[nc]"), operands: "paths" },
  true: {},
  uname: { flags: of("-[asnrmpio]+") },
  wc: { flags: of("-[lwcmL]+"), operands: "paths" },
  whoami: {},
};

/** Whether literal words are a command that is known to only read, as they stand; undefined for every other, which says nothing about it. */
export function readingCommand(words: readonly string[]): ReadingCommand | undefined {
  const name = basename(words[0] ?? "");
  if (name !== "git") {
    const grammar = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    const operands = grammar === undefined ? undefined : operandsOf(words.slice(1), grammar);
    // Without an option, what asks for a version begins something.
    if (grammar === undefined || operands === undefined || (grammar === VERSION && words.length !== 2)) return undefined;
    if (grammar.operands !== "pattern" || words.includes("--files")) return { paths: grammar.operands === "text" ? [] : operands, filesOnly: false };
    // Without a file, it reads its input or all that it finds.
    return operands.length < 2 ? undefined : { paths: operands.slice(1), filesOnly: true };
  }
  const rest = words[1] === "--no-pager" ? words.slice(2) : words.slice(1);
  const [subcommand = "", ...parameters] = rest;
  if (rest.length === 1 && subcommand === "--version") return { paths: [], filesOnly: false };
  const grammar = Object.hasOwn(GIT, subcommand) ? GIT[subcommand] : undefined;
  const operands = grammar === undefined ? undefined : operandsOf(parameters, grammar);
  // A path out of the workspace makes a diff of any two files of the machine.
  if (operands === undefined || operands.some((word) => word.startsWith("/") || word.split("/").includes(".."))) return undefined;
  return { paths: [], filesOnly: false, gitWords: ["--no-pager", subcommand, ...(GIT_ADDED[subcommand] ?? []), ...parameters] };
}

function operandsOf(parameters: readonly string[], { flags, valued, operands }: Grammar): string[] | undefined {
  const found: string[] = [];
  for (let at = 0; at < parameters.length; at++) {
    const word = parameters[at] as string;
    if (word === "--" && operands !== undefined) {
      found.push(...parameters.slice(at + 1));
      break;
    }
    if (flags?.test(word)) continue;
    if (valued?.test(word)) {
      at++;
      if (parameters[at] === undefined || parameters[at]?.startsWith("-") || parameters[at]?.includes("%G")) return undefined;
    } else if (operands === undefined || word.startsWith("-")) return undefined;
    else found.push(word);
  }
  return found;
}
