import { execFile } from "node:child_process";
import { devNull } from "node:os";

/** What git says of a workspace. */
export interface GitFacts {
  /** Undefined where no branch is checked out. */
  readonly branch: string | undefined;
  /** Of the commit, abbreviated; undefined before the first. */
  readonly commit: string | undefined;
  /** Files that differ from the commit, untracked ones included; a directory that is untracked as a whole counts once. Undefined where counting takes too long. */
  readonly dirtyFiles: number | undefined;
  /** More than the number. */
  readonly isDirtyCut: boolean;
}

export interface GitFactsOptions {
  /** Default: 2 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const TIMEOUT_MS = 2_000;
/** Of git's answer; more files are not counted. */
const OUTPUT_BYTES_MAX = 4 * 1024 * 1024;
const FILTERS_MAX = 100;

/**
 * Asks git, whose configuration in the workspace may be anybody's: what would run a program, or reach out, is switched off, and nothing is written. Undefined
 * where there is no git, no repository, or one that git does not trust.
 */
export async function gitFacts(root: string, options: GitFactsOptions = {}): Promise<GitFacts | undefined> {
  const ask = (args: readonly string[], config: readonly Setting[]): Promise<Answer> => runGit(root, args, config, options);
  const filters = await ask(["config", "--null", "--name-only", "--get-regexp", "^filter\\."], SAFE);
  // 1: there are none. Anything else, and what they are is not known.
  if (filters.code !== 0 && filters.code !== 1) return undefined;
  const off = filtersOff(filters.stdout);
  if (off === undefined) return undefined;
  const status = await ask(
    ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=all", "--no-renames"],
    [...SAFE, ...off],
  );
  const records = status.stdout.split("\0");
  const branch = header(records, "branch.head");
  const commit = header(records, "branch.oid");
  if (branch === undefined) return status.isTimeout ? await branchAlone(ask) : undefined;
  return {
    branch: branch === "(detached)" ? undefined : branch,
    commit: commit === undefined || commit === "(initial)" ? undefined : commit.slice(0, 12),
    dirtyFiles: status.code === 0 || status.isCut ? records.filter((record) => /^[12u?] /.test(record)).length : undefined,
    isDirtyCut: status.isCut,
  };
}

type Setting = readonly [name: string, value: string];

/** Whatever of a repository's configuration would start a program. */
const SAFE: readonly Setting[] = [
  ["core.fsmonitor", ""],
  ["core.hooksPath", devNull],
  ["core.pager", "cat"],
  ["core.sshCommand", "false"],
  ["core.gitProxy", ""],
  ["core.attributesFile", devNull],
  ["protocol.allow", "never"],
  ["safe.bareRepository", "explicit"],
];

async function branchAlone(ask: (args: readonly string[], config: readonly Setting[]) => Promise<Answer>): Promise<GitFacts | undefined> {
  const { code, stdout } = await ask(["symbolic-ref", "--quiet", "--short", "HEAD"], SAFE);
  return code === 0 ? { branch: stdout.trim(), commit: undefined, dirtyFiles: undefined, isDirtyCut: false } : undefined;
}

/** A filter is a program that git runs on a file's content to see whether it changed. Without, such a file counts as changed once its stat differs. */
function filtersOff(names: string): Setting[] | undefined {
  const drivers = new Set(
    names
      .split("\0")
      .filter(Boolean)
      .map((name) => name.slice("filter.".length, name.lastIndexOf("."))),
  );
  if (drivers.size > FILTERS_MAX) return undefined;
  return [...drivers].flatMap((driver): Setting[] => [
    [`filter.${driver}.clean`, ""],
    [`filter.${driver}.smudge`, ""],
    [`filter.${driver}.process`, ""],
    [`filter.${driver}.required`, "false"],
  ]);
}

function header(records: readonly string[], name: string): string | undefined {
  const prefix = `# ${name} `;
  return records.find((record) => record.startsWith(prefix))?.slice(prefix.length);
}

interface Answer {
  /** -1 where it did not end by itself. */
  readonly code: number;
  readonly stdout: string;
  readonly isTimeout: boolean;
  readonly isCut: boolean;
}

function runGit(root: string, args: readonly string[], config: readonly Setting[], { timeoutMs = TIMEOUT_MS, signal }: GitFactsOptions): Promise<Answer> {
  return new Promise((resolve) => {
    const options = {
      cwd: "/",
      env: environment(config),
      timeout: timeoutMs,
      killSignal: "SIGKILL",
      maxBuffer: OUTPUT_BYTES_MAX,
      signal,
      encoding: "utf8",
    } as const;
    execFile("git", ["--no-optional-locks", "--no-pager", "-C", root, ...args], options, (error, stdout) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, isTimeout: error?.killed === true && error.signal === "SIGKILL", isCut: error?.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER" });
    }).stdin?.end();
  });
}

/** Only what git needs of ours; settings by the environment, since the command line shows to everybody and splits a name at its first `=`. */
function environment(config: readonly Setting[]): Record<string, string> {
  const ours = ["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "SYSTEMROOT", "USERPROFILE"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const settings = config.flatMap(([name, value], index) => [[`GIT_CONFIG_KEY_${index}`, name] as const, [`GIT_CONFIG_VALUE_${index}`, value] as const]);
  return {
    ...Object.fromEntries(ours),
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "",
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(settings),
  };
}
