import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { access, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { systemProgram } from "../process/system-program.ts";

/** What all commands of one sandbox may have together. */
export interface GroupLimits {
  readonly processesMax: number;
  readonly memoryBytesMax: number;
}

/** A control group that commands join. */
export interface CommandGroup {
  /** Put before a command: joins, and becomes the command. */
  readonly joining: readonly string[];
  /** Takes the group away; it must be empty. */
  remove(): Promise<void>;
}

/** Where groups can be made: one directory in version 2, one for each controller in version 1. */
interface Place {
  readonly directory: string;
  /** File names and what is written to them. */
  readonly limits: (limits: GroupLimits) => Readonly<Record<string, number>>;
}

/** Fails where a group can't be joined, so that nothing runs outside of it. Parameters: the groups, `--`, then the command. */
const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"';
const NAME = /^forge-(\d+)-[0-9a-f]+$/;
const run = promisify(execFile);

/**
 * Makes a group with these limits, where one may be made and joined: below or beside the own one, or at the top; found by trying. Undefined where not, which is so
 * for most users of a machine. What a process that was killed has left behind is taken away.
 */
export async function makeCommandGroup(limits: GroupLimits): Promise<CommandGroup | undefined> {
  for (const places of await candidates()) {
    const made = await Promise.all(places.map((place) => makeGroup(place, limits)));
    const groups = made.filter((group) => group !== undefined);
    const joining = [systemProgram("sh") ?? "sh", "-c", JOIN, "sh", ...groups, "--"];
    const [file = "", ...parameters] = joining;
    const works =
      groups.length === places.length &&
      groups.length > 0 &&
      (await run(file, [...parameters, systemProgram("true") ?? "true"], { timeout: 5_000 }).then(
        () => true,
        () => false,
      ));
    const remove = async (): Promise<void> => {
      await Promise.all(groups.map(removeGroup));
    };
    if (works) return { joining, remove };
    await remove();
  }
  return undefined;
}

/** Sets of directories, the first to be tried first. */
async function candidates(): Promise<Place[][]> {
  const [own, mounts] = await Promise.all(["/proc/self/cgroup", "/proc/self/mountinfo"].map((path) => readFile(path, "utf8").catch(() => "")));
  const mounted = (mounts ?? "").split("\n").flatMap((line) => {
    const [, root = "", point = "", type = "", options = ""] = /^\S+ \S+ \S+ (\S+) (\S+) .* - (cgroup2?) \S+ (\S+)$/.exec(line) ?? [];
    return point === "" ? [] : [{ root, point, type, options: options.split(",") }];
  });
  const paths = (own ?? "").split("\n").map((line) => line.split(":"));
  const version2 = mounted
    .filter(({ type }) => type === "cgroup2")
    .flatMap(({ root, point }) => {
      const path = paths.find(([, controllers]) => controllers === "")?.[2] ?? "/";
      const directory = join(point, path.startsWith(root) ? path.slice(root === "/" ? 0 : root.length) : "/");
      const limits = ({ processesMax, memoryBytesMax }: GroupLimits) => ({ "pids.max": processesMax, "memory.max": memoryBytesMax });
      return [...new Set([directory, directory === point ? point : dirname(directory), point])].map((one) => [{ directory: one, limits }]);
    });
  const of = (controller: string): string | undefined => {
    const mount = mounted.find(({ type, options }) => type === "cgroup" && options.includes(controller));
    const path = paths.find(([, controllers]) => controllers?.split(",").includes(controller))?.[2];
    return mount === undefined || path === undefined ? undefined : join(mount.point, path);
  };
  const [pids, memory] = [of("pids"), of("memory")];
  if (pids === undefined || memory === undefined) return version2;
  const version1 = [
    { directory: pids, limits: ({ processesMax }: GroupLimits) => ({ "pids.max": processesMax }) },
    { directory: memory, limits: ({ memoryBytesMax }: GroupLimits) => ({ "memory.limit_in_bytes": memoryBytesMax }) },
  ];
  return [...version2, version1];
}

/** The new group's directory; undefined where none can be made, or the limits can't be set. */
async function makeGroup({ directory, limits }: Place, values: GroupLimits): Promise<string | undefined> {
  const path = join(directory, `forge-${process.pid}-${randomBytes(4).toString("hex")}`);
  try {
    await removeAbandoned(directory);
    await mkdir(path);
  } catch {
    // Not this user's to make groups in.
    return undefined;
  }
  try {
    for (const [file, value] of Object.entries(limits(values))) {
      // A file that isn't there would be a controller that isn't; nothing makes one.
      await access(join(path, file));
      await writeFile(join(path, file), String(value));
    }
    return path;
  } catch {
    await removeGroup(path);
    return undefined;
  }
}

async function removeAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = NAME.exec(name)?.[1];
    if (
      pid !== undefined &&
      !(await access(`/proc/${pid}`).then(
        () => true,
        () => false,
      ))
    )
      await removeGroup(join(directory, name));
  }
}

/** One that isn't empty stays, and is taken away by whoever comes next. */
async function removeGroup(path: string): Promise<void> {
  await rmdir(path).catch(() => {});
}
