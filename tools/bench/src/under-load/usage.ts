import { readdir, readFile } from "node:fs/promises";
import type pg from "pg";
import type { Fleet } from "../server/fleet.ts";

/** What control planes and their database have used since they started. */
interface Usage {
  readonly atMs: number;
  readonly serverCpuUs: number;
  readonly databaseCpuUs: number;
  readonly statements: number;
  /** Where PostgreSQL's log is, in bytes. */
  readonly logBytes: number;
}

/** What they used in between. */
export interface Used extends Omit<Usage, "atMs"> {
  readonly seconds: number;
}

const US_PER_TICK = 10_000;

/** The fields of /proc/<pid>/stat behind the command's name, which may hold anything. */
async function statOf(pid: string): Promise<readonly string[] | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch (error) {
    // It has ended since its name was read; its parent has its time.
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Nanoseconds on a processor; what /proc/<pid>/stat says is counted in hundredths of a second. */
async function cpuNs(pid: string): Promise<number> {
  const text = await readFile(`/proc/${pid}/schedstat`, "utf8").catch(() => "0"); // It has ended.
  return Number(text.split(" ")[0]);
}

const [STATE_PPID, CHILDREN_USER, CHILDREN_SYSTEM] = [1, 13, 14] as const;

/** Processor time of a server's processes, those that have ended included. Needs Linux. */
async function databaseCpuUs(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>("select pg_backend_pid() as pid");
  const backend = await statOf(String(rows[0]?.pid));
  const server = backend?.[STATE_PPID];
  if (server === undefined) throw new Error("the processor time of PostgreSQL can't be read here: it needs /proc, which Linux has");
  const own = await statOf(server);
  let sum = (Number(own?.[CHILDREN_USER]) + Number(own?.[CHILDREN_SYSTEM])) * US_PER_TICK + (await cpuNs(server)) / 1000;
  for (const pid of await readdir("/proc")) {
    if (/^\d+$/.test(pid) && (await statOf(pid))?.[STATE_PPID] === server) sum += (await cpuNs(pid)) / 1000;
  }
  return sum;
}

async function usage(pool: pg.Pool, fleets: readonly Fleet[]): Promise<Usage> {
  const writes = await Promise.all(fleets.map((fleet) => fleet.writes()));
  const { rows } = await pool.query<{ bytes: string }>("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes");
  const sum = (of: (one: (typeof writes)[number]) => number): number => writes.reduce((total, one) => total + of(one), 0);
  return {
    atMs: performance.now(),
    serverCpuUs: sum(({ cpuUs }) => cpuUs),
    databaseCpuUs: await databaseCpuUs(pool),
    statements: sum(({ statements }) => statements),
    logBytes: Number(rows[0]?.bytes),
  };
}

/** Says what control planes and their database use while something happens. */
export async function usedBy<T>(pool: pg.Pool, fleets: readonly Fleet[], work: () => Promise<T>): Promise<{ readonly result: T; readonly used: Used }> {
  const before = await usage(pool, fleets);
  const result = await work();
  const after = await usage(pool, fleets);
  const used = {
    seconds: (after.atMs - before.atMs) / 1000,
    serverCpuUs: after.serverCpuUs - before.serverCpuUs,
    databaseCpuUs: after.databaseCpuUs - before.databaseCpuUs,
    statements: after.statements - before.statements,
    logBytes: after.logBytes - before.logBytes,
  };
  return { result, used };
}
