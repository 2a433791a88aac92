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

/**
 * All processes in a PID namespace and in those nested in it: the kernel hands an orphan to its own namespace's init at the farthest, so that every one of them
 * descends from a process of the namespace.
 */
export async function namespaceMembers(namespace: string): Promise<number[]> {
  const pids = await processIds();
  const found = await Promise.all(pids.map(async (pid) => ({ pid, parent: await parentOf(pid), inside: await isIn(pid, namespace) })));
  const members = new Set(found.filter(({ inside }) => inside).map(({ pid }) => pid));
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const { pid, parent } of found) if (parent !== undefined && members.has(parent)) members.add(pid);
  }
  return [...members];
}

async function isIn(pid: number, namespace: string): Promise<boolean> {
  return (await readlink(`/proc/${pid}/ns/pid`).catch(() => GONE)) === namespace;
}

async function parentOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => GONE);
  // The name stands in parentheses and may hold anything; then come state and parent.
  const [, parent] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  return parent === undefined ? undefined : Number(parent);
}

/** Whether the process only holds a tree together: its PID namespace's init, or the sandbox's program, which would end everything in it at once. */
export async function isKeeper(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => GONE);
  return status !== undefined && (/^NSpid:.*\t1$/m.test(status) || /^Name:\tbwrap$/m.test(status));
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
