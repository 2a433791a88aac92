import { chown, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Launcher } from "./launcher.ts";
import { run } from "./run.ts";
import { systemCode } from "./system-code.ts";

/** What `postmaster.pid` says of the server that made it. */
export interface PostmasterFile {
  pid: number;
  /** Whether it accepts connections. */
  ready: boolean;
}

/** No process has it, on any system. */
const IMPOSSIBLE_PID = 2_147_483_647;

const fileOf = (cluster: string): string => path.join(cluster, "postmaster.pid");

/** The file's lines; undefined when there is none. The first is the process id, the eighth the state. */
async function readLines(cluster: string): Promise<string[] | undefined> {
  try {
    return (await readFile(fileOf(cluster), "utf8")).split("\n");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Reads the file; undefined when there is none or it is not written yet. */
export async function readPostmasterFile(cluster: string): Promise<PostmasterFile | undefined> {
  const lines = await readLines(cluster);
  const pid = Number.parseInt(lines?.[0] ?? "", 10);
  return lines === undefined || !(pid > 0) ? undefined : { pid, ready: lines[7]?.trim() === "ready" };
}

/**
 * Takes the dead server's process id out of the file, for the system may have given it to a process that has nothing to do with PostgreSQL, and the
 * next server would then refuse to start. The file itself stays: by its other lines the server finds out whether processes of the dead one still hold
 * its memory. Call it only under the directory's lock, when no server runs.
 */
export async function disownPostmasterFile(cluster: string, { uid, gid }: Launcher): Promise<void> {
  const lines = await readLines(cluster);
  if (lines === undefined) return;
  if (lines.length < 2) {
    // A full disk leaves it empty, and an empty file stops the server as well.
    await rm(fileOf(cluster));
    return;
  }
  const replacement = `${fileOf(cluster)}.new`;
  await writeFile(replacement, [String(IMPOSSIBLE_PID), ...lines.slice(1)].join("\n"), { mode: 0o600 });
  if (uid !== process.getuid?.()) await chown(replacement, uid, gid);
  await rename(replacement, fileOf(cluster));
}

/** Whether the process is a living server of this data directory. Its command line tells, which everybody may read; a zombie's is empty. */
export async function isServerOf(pid: number, cluster: string): Promise<boolean> {
  if (process.platform !== "linux") {
    const { output } = await run(["ps", "-ww", "-p", String(pid), "-o", "command="]);
    return output.includes(`-D ${cluster} `);
  }
  try {
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0");
    return words[words.indexOf("-D") + 1] === cluster;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ESRCH") return false;
    throw error;
  }
}
