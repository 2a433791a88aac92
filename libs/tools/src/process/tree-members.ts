import { readdir, readFile, readlink } from "node:fs/promises";
import { MARK_VARIABLE } from "./isolation.ts";

/** A process that reading did not find: it ended meanwhile, or belongs to someone else. Either way it is not ours to signal. */
const GONE = undefined;

async function processIds(): Promise<number[]> {
  return (await readdir("/proc")).filter((name) => /^[0-9]+$/.test(name)).map(Number);
}

async function select(matches: (pid: number) => Promise<boolean>): Promise<number[]> {
  const pids = await processIds();
  const matched = await Promise.all(pids.map((pid) => matches(pid)));
  return pids.filter((_, index) => matched[index]);
}

/** The PID namespace that `unshare` has made for its child; undefined before it did, or when it has ended. */
export async function childNamespace(unsharePid: number): Promise<string | undefined> {
  const [own, made] = await Promise.all([readlink("/proc/self/ns/pid"), readlink(`/proc/${unsharePid}/ns/pid_for_children`).catch(() => GONE)]);
  return made === own ? undefined : made;
}

/** All processes in a PID namespace; those in namespaces nested in it are not listed, but die with its init as well. */
export function namespaceMembers(namespace: string): Promise<number[]> {
  return select(async (pid) => (await readlink(`/proc/${pid}/ns/pid`).catch(() => GONE)) === namespace);
}

/** Whether the process is its PID namespace's init. */
export async function isNamespaceInit(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => GONE);
  return status !== undefined && /^NSpid:.*\t1$/m.test(status);
}

/** The process group, and everything whose environment carries the mark, zombies left out. Where there is no /proc: the group as a whole, as -group. */
export async function markedMembers(mark: string, group: number): Promise<number[]> {
  if (process.platform !== "linux") return groupExists(group) ? [-group] : [];
  const needle = `${MARK_VARIABLE}=${mark}`;
  return select(async (pid) => {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => GONE);
    // The name stands in parentheses and may hold anything; then come state, parent and group.
    const [state, , processGroup] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
    if (state === undefined || state === "Z" || state === "X") return false;
    if (Number(processGroup) === group) return true;
    return (await readFile(`/proc/${pid}/environ`, "latin1").catch(() => GONE))?.includes(needle) ?? false;
  });
}

function groupExists(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
