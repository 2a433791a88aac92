import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** A process that something belongs to, told apart from a later one with its number. */
export interface Owner {
  /** Of the machine. */
  readonly host: string;
  readonly pid: number;
  /** In the kernel's clock ticks since it booted; empty where the system does not tell it. */
  readonly startedAt: string;
}

/** Of what another machine's process left, which can't be asked: no transaction takes as long. */
export const FOREIGN_AGE_MS = 10 * 60_000;

export function thisProcess(): Owner {
  const host = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
  return { host, pid: process.pid, startedAt: startTimeOf(process.pid) };
}

/** Whether it is known that the process is gone; of another machine's nobody can tell. */
export function isGone({ host, pid, startedAt }: Owner): boolean {
  return host === thisProcess().host && !(isRunning(pid) && startTimeOf(pid) === startedAt);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function startTimeOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The second field is the program's name in parentheses, which may hold anything.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}
