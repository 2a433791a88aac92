import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { pathDirectories } from "../process/system-program.ts";

/** What of the machine's files a sandbox shows, and how. All paths are absolute. */
export interface MountOptions {
  /** The workspace's real path. */
  readonly workspace: string;
  /** Whether the workspace may be written to. */
  readonly access: "read" | "write";
  /** Not shown wherever they are: Forge's data. */
  readonly hidden: readonly string[];
  /** Shown, to be read, although they lie in a place that is hidden. */
  readonly readable: readonly string[];
  /** Shown although they are hidden, to be written where the workspace may be. */
  readonly writable: readonly string[];
  /** Of the command, whose PATH may name directories of the home. */
  readonly path: string | undefined;
}

/** Temporary files, and the sockets of whatever runs on the machine: each sandbox has its own, empty. */
const EMPTY_DIRECTORIES = ["/tmp", "/var/tmp", "/run"];
/** Below a hidden directory, and harmless: programs, as some systems keep them there. */
const SYSTEM_PROGRAMS = ["/run/current-system", "/run/opengl-driver"];
/** Of root's files: those that only root reads. The others are shown to everybody anyway. */
const ROOT_SECRETS = ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssh", "/etc/ssl/private", "/etc/sudoers", "/etc/sudoers.d"];
/** In a home: what compilers and version managers install there, without a key or token among it. */
const TOOLCHAINS = [
  ".asdf",
  ".bun/bin",
  ".cargo/bin",
  ".deno/bin",
  ".fnm",
  ".local/bin",
  ".local/lib",
  ".local/share/fnm",
  ".local/share/mise",
  ".local/share/pnpm",
  ".local/share/uv",
  ".nvm",
  ".pyenv",
  ".rbenv",
  ".rustup",
  ".sdkman/candidates",
  ".volta",
  "go",
  "miniconda3",
  "anaconda3",
];
/** In a home that is itself the workspace, or inside of it. */
const HOME_SECRETS = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".config/gcloud",
  ".config/gh",
  ".netrc",
  ".git-credentials",
  ".npmrc",
  ".pypirc",
  ".cargo/credentials.toml",
  ".password-store",
  ".mozilla",
  ".config/google-chrome",
];
/** What git runs or is led by: written by a command, it would act outside of the sandbox at the person's next git command. */
const GIT_PROTECTED = ["config", "config.worktree", "hooks", "modules"];
/** Of a linked worktree: what leads git to a configuration. */
const WORKTREE_PROTECTED = ["commondir", "gitdir", "config.worktree"];

/** The arguments of `bwrap` that lay out what a command sees of the file system; later ones lie over earlier ones. */
export function mountArguments(options: MountOptions): string[] {
  const { workspace, access } = options;
  const homes = hiddenHomes();
  const isRoot = process.getuid?.() === 0;
  return [
    ["--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/dev/shm", "--proc", "/proc"],
    // Root may write to it without any capability, and what stands there holds for the whole machine.
    ["--ro-bind", "/proc/sys", "/proc/sys"],
    EMPTY_DIRECTORIES.filter(isDirectory).flatMap((path) => ["--tmpfs", path]),
    SYSTEM_PROGRAMS.flatMap((path) => readOnly(path)),
    isRoot ? ROOT_SECRETS.flatMap(cover) : [],
    homes.filter((home) => !isInside(workspace, home)).flatMap((home) => ["--tmpfs", home]),
    homes.flatMap((home) => TOOLCHAINS.map((name) => join(home, name))).flatMap(readOnly),
    [...EMPTY_DIRECTORIES, ...homes].flatMap((hidden) => programDirectories(hidden, options.path)).flatMap(readOnly),
    options.readable.flatMap(readOnly),
    [access === "write" ? "--bind" : "--ro-bind", workspace, workspace],
    homes.filter((home) => isInside(workspace, home)).flatMap((home) => HOME_SECRETS.map((name) => join(home, name)).flatMap(cover)),
    access === "write" ? [...gitArguments(workspace), ...pinned(options)] : sharedGitDirectory(workspace).flatMap(readOnly),
    options.hidden.filter((path) => isInside(workspace, path) || ![...EMPTY_DIRECTORIES, ...homes].some((empty) => isInside(empty, path))).flatMap(cover),
    options.writable.filter((path) => existsSync(path)).flatMap((path) => [access === "write" ? "--bind" : "--ro-bind", path, path]),
  ].flat();
}

function hiddenHomes(): string[] {
  const homes = [homedir(), userInfo().homedir, "/home", "/root"].filter((path) => isAbsolute(path) && isDirectory(path)).map((path) => realpathSync(path));
  return [...new Set(homes)].filter((path) => path !== "/" && !homes.some((other) => other !== path && other !== "/" && isInside(other, path)));
}

/** Directories of the PATH that lie in what is hidden, and the programs of this Node. */
function programDirectories(hidden: string, path: string | undefined): string[] {
  const node = dirname(dirname(process.execPath));
  return [...pathDirectories(path), node].filter((directory) => directory !== hidden && isInside(hidden, directory));
}

/** What this user can't see is not there for bwrap either, which would refuse to start. */
function readOnly(path: string): string[] {
  return existsSync(path) ? ["--ro-bind", path, path] : [];
}

/** Lays something empty over what is there. */
function cover(path: string): string[] {
  if (!existsSync(path)) return [];
  const real = realpathSync(path);
  return isDirectory(real) ? ["--tmpfs", real] : ["--ro-bind", "/dev/null", real];
}

/** Git's directory, to be written but for what it protects; a mount of its own, so that it can't be moved away and another put into its place. */
function gitArguments(workspace: string): string[] {
  const link = join(workspace, ".git");
  const links = isFile(link) ? ["--ro-bind", link, link] : [];
  const directory = gitDirectoryOf(workspace);
  return directory === undefined ? links : [...links, "--bind", directory, directory, ...protectedOf(directory)];
}

function protectedOf(directory: string): string[] {
  const worktrees = join(directory, "worktrees");
  const linked = namesIn(worktrees).map((name) => join(worktrees, name));
  // Mounts of their own, so that none is moved away and another put into its place.
  const pinnedOnes = linked.length === 0 ? [] : [worktrees, ...linked].flatMap((path) => ["--bind", path, path]);
  const own = GIT_PROTECTED.map((name) => join(directory, name)).flatMap((path) => {
    if (existsSync(path)) return ["--ro-bind", path, path];
    // An empty directory that nobody can put anything into is what a repository without hooks, or without submodules, looks like.
    if (["hooks", "modules"].includes(basename(path))) return ["--tmpfs", path, "--remount-ro", path];
    // Without the extension git does not look for one.
    return basename(path) === "config.worktree" && readsWorktreeConfig(directory) ? emptyFile(path) : [];
  });
  return [...own, ...pinnedOnes, ...linked.flatMap((path) => WORKTREE_PROTECTED.map((name) => join(path, name))).flatMap(readOnly)];
}

/** An empty configuration says nothing, and is where nobody can put another. A mount needs a file to lie over in any case. */
function emptyFile(path: string): string[] {
  writeFileSync(path, "", { flag: "a", mode: 0o644 });
  return ["--ro-bind", path, path];
}

/** Whether git reads a configuration of the worktree's own; said too often, it costs an empty file. */
function readsWorktreeConfig(directory: string): boolean {
  try {
    return /worktreeconfig/i.test(readFileSync(join(directory, "config"), "utf8"));
  } catch {
    // Without a configuration there is no extension.
    return false;
  }
}

function namesIn(directory: string): string[] {
  return isDirectory(directory) ? readdirSync(directory).filter((name) => isDirectory(join(directory, name))) : [];
}

/** The repository's own directory that a workspace's commands may write to; undefined where there is none. */
export function gitDirectoryOf(workspace: string): string | undefined {
  const own = join(workspace, ".git");
  return isDirectory(own) && !lstatSync(own).isSymbolicLink() ? own : sharedGitDirectory(workspace)[0];
}

/**
 * The repository that a linked worktree belongs to, where the workspace is one. The link is believed only as far as the repository links back, because the
 * workspace's content may be anybody's: its word alone must not open a directory outside of it.
 */
function sharedGitDirectory(workspace: string): string[] {
  const link = join(workspace, ".git");
  try {
    if (!lstatSync(link).isFile()) return [];
    const [, target] = /^gitdir: (.+)\n?$/.exec(readFileSync(link, "utf8")) ?? [];
    if (target === undefined) return [];
    const own = realpathSync(resolve(workspace, target));
    const worktrees = dirname(own);
    const shared = dirname(worktrees);
    const linksBack = realpathSync(readFileSync(join(own, "gitdir"), "utf8").trim()) === realpathSync(link);
    return basename(worktrees) === "worktrees" && linksBack && !isInside(workspace, own) && isFile(join(shared, "HEAD")) ? [shared] : [];
  } catch {
    // A link that leads nowhere shows nothing more.
    return [];
  }
}

/** Directories between the workspace and what is hidden in it become mounts, which can't be moved away. */
function pinned({ workspace, hidden }: MountOptions): string[] {
  const between = hidden
    .filter((path) => existsSync(path) && isInside(workspace, path))
    .flatMap((path) => {
      const names = relative(workspace, dirname(path)).split(sep).filter(Boolean);
      return names.map((_, index) => join(workspace, ...names.slice(0, index + 1)));
    });
  return [...new Set(between)].flatMap((path) => ["--bind", path, path]);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Whether a path is the directory or lies in it. */
function isInside(directory: string, path: string): boolean {
  const rest = relative(directory, path);
  return rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}
