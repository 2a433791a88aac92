import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EnclosedCommand, Enclosure } from "../process/enclosure.ts";
import { systemProgram } from "../process/system-program.ts";
import { type MountOptions, mountArguments } from "./mounts.ts";
import { hasSeccompFilter, seccompFilter } from "./seccomp-filter.ts";

/** What the `bwrap` at hand can do. */
export interface BubblewrapFeatures {
  /** `--disable-userns`, from version 0.8; without it the filter alone refuses them. */
  readonly disableUserNamespaces: boolean;
  /** There is a filter of system calls for this machine. */
  readonly seccomp: boolean;
}

/** Bounds of what commands may have. */
export interface ProcessLimits {
  /** Processes and threads of one command, and of all together where there are control groups. Without these, root is not held by it. */
  readonly processesMax: number;
  /** Of private memory of one process that can be written, in bytes. */
  readonly memoryBytesMax: number;
}

export const PROCESS_LIMITS: ProcessLimits = { processesMax: 2_048, memoryBytesMax: 8 * 1024 ** 3 };

const SECCOMP_DESCRIPTOR = 8;

/** What every command is cut off from, and that it ends with this process. */
const ISOLATION = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"] as const;

/** What of a machine a command in a sandbox is shown, beside the mounts. */
export interface BubblewrapOptions extends Omit<MountOptions, "path"> {
  readonly features: BubblewrapFeatures;
  readonly limits: ProcessLimits;
  /** More arguments of bwrap, after the mounts. */
  readonly extraArguments?: readonly string[];
  /** Put before all of it; see makeCommandGroup. */
  readonly joining?: readonly string[];
  /** Put before the command. */
  readonly prefix?: readonly string[];
  /** Set for the command. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs commands under bubblewrap. Which features there are is found out by probeSandbox. */
export function bubblewrap(options: BubblewrapOptions): Enclosure {
  return {
    enclose: (command, { cwd, environment }) => {
      const filter = options.features.seccomp ? openFilter() : undefined;
      return {
        command: bubblewrapCommand(options, command, { cwd, path: environment.PATH }),
        environment: { ...environment, ...ownEnvironment(options) },
        descriptors: new Map(filter === undefined ? [] : [[SECCOMP_DESCRIPTOR, filter]]),
        close: () => {
          if (filter !== undefined) closeSync(filter);
        },
      } satisfies EnclosedCommand;
    },
  };
}

/**
 * An argument vector that does the same by itself, for whoever starts processes by no more than that. `filterPath` is a file as writeSeccompFilter makes it, and
 * must stay until the command was started.
 */
export function bubblewrapVector(
  options: BubblewrapOptions,
  command: readonly string[],
  place: { cwd: string; path: string | undefined; filterPath: string },
): string[] {
  const variables = Object.entries(ownEnvironment(options)).flatMap(([name, value]) => ["--setenv", name, value]);
  const vector = bubblewrapCommand({ ...options, extraArguments: [...(options.extraArguments ?? []), ...variables] }, command, place);
  if (!options.features.seccomp) return vector;
  return [systemProgram("sh") ?? "sh", "-c", `exec ${SECCOMP_DESCRIPTOR}<"$1"; shift; exec "$@"`, "sh", place.filterPath, ...vector];
}

function bubblewrapCommand(options: BubblewrapOptions, command: readonly string[], { cwd, path }: { cwd: string; path: string | undefined }): string[] {
  const { features, limits } = options;
  const prlimit = systemProgram("prlimit");
  return [
    ...(options.joining ?? []),
    systemProgram("bwrap") ?? "bwrap",
    ...ISOLATION,
    ...(features.disableUserNamespaces ? ["--disable-userns"] : []),
    ...mountArguments({ ...options, path }),
    ...(options.extraArguments ?? []),
    "--chdir",
    cwd,
    ...(features.seccomp ? ["--seccomp", String(SECCOMP_DESCRIPTOR)] : []),
    "--",
    ...(prlimit === undefined ? [] : [prlimit, `--nproc=${limits.processesMax}`, `--data=${limits.memoryBytesMax}`, "--"]),
    ...(options.prefix ?? []),
    ...command,
  ];
}

/** Its own directory for temporary files is the sandbox's. */
function ownEnvironment({ environment }: BubblewrapOptions): Record<string, string> {
  return { TMPDIR: "/tmp", ...environment };
}

let filterDescriptor: number | undefined;

/** Opens the filter anew, for a reader of its own. It is in a file without a name, which nobody else can change. */
function openFilter(): number {
  filterDescriptor ??= writeFilter();
  return openSync(`/proc/self/fd/${filterDescriptor}`, "r");
}

function writeFilter(): number {
  const directory = mkdtempSync(join(tmpdir(), "forge-seccomp-"));
  try {
    const path = join(directory, "filter");
    writeSeccompFilter(path);
    return openSync(path, "r");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Writes the filter of system calls of this machine, which must have one. */
export function writeSeccompFilter(path: string): void {
  writeFileSync(path, seccompFilter(process.arch), { mode: 0o400 });
}

/** The features that this machine can have at most. */
export const ALL_FEATURES: BubblewrapFeatures = { disableUserNamespaces: true, seccomp: hasSeccompFilter(process.arch) };
