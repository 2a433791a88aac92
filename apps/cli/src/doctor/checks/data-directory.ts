import { constants } from "node:fs";
import { access, readFile, stat, statfs } from "node:fs/promises";
import path from "node:path";
import { type Found, ok, problem, warning } from "../finding.ts";
import type { Subject } from "../subject.ts";

const MIB = 1024 * 1024;
/** A fresh cluster has 40 MiB, its log of what is not yet in place up to 100. */
const FREE_BYTES_MIN = 200 * MIB;
const FREE_BYTES_FEW = 1024 * MIB;

/** Where everything durable of the project lies, and whether there is room. */
export async function checkDataDirectory({ root, dataDirectory }: Subject): Promise<readonly Found[]> {
  const found = await stat(dataDirectory).catch((error: unknown) => error as NodeJS.ErrnoException);
  if (found instanceof Error) {
    if (found.code !== "ENOENT") return [problem(`${dataDirectory} can't be looked at: ${found.message}`, "make it, and what lies above it, readable for you")];
    return [await checkWritable(root, `nothing is kept in ${dataDirectory} yet: the first command makes it`), await checkSpace(root)];
  }
  if (!found.isDirectory()) return [problem(`${dataDirectory} is no directory`, "move it away: Forge keeps its data there")];
  const uid = process.getuid?.();
  const stranger = uid === undefined || uid === found.uid ? undefined : `${dataDirectory} belongs to user ${found.uid}, and this is user ${uid}`;
  const advice = "run Forge as the user that owns it, or give it to this one (chown -R)";
  // Root gets everywhere, and what it leaves there keeps the owner out.
  if (stranger !== undefined) return [uid === 0 ? warning(stranger, advice) : problem(stranger, advice), await checkSpace(dataDirectory)];
  const modes = found.mode & 0o077;
  const exposed =
    modes === 0 ? [] : [warning(`others may look into ${dataDirectory} (mode ${(found.mode & 0o777).toString(8)})`, `chmod 700 ${dataDirectory}`)];
  return [await checkWritable(dataDirectory, `${dataDirectory}${await heldBy(dataDirectory)}`), ...exposed, await checkSpace(dataDirectory)];
}

async function checkWritable(directory: string, message: string): Promise<Found> {
  try {
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    return ok(message);
  } catch (error) {
    return problem(`${directory} can't be written: ${(error as Error).message}`, "make it writable for you, or choose another directory with --project");
  }
}

async function checkSpace(directory: string): Promise<Found> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  const shown = free < FREE_BYTES_FEW ? `${Math.floor(free / MIB)} MiB` : `${(free / 1024 / MIB).toFixed(1)} GiB`;
  if (free < FREE_BYTES_MIN) return problem(`only ${shown} are free on the disk of ${directory}`, "make room: the database stops when it can't write");
  if (free < FREE_BYTES_FEW) return warning(`only ${shown} are free on the disk of ${directory}`, "make room before it runs full");
  return ok(`${shown} are free`);
}

/** Whoever locks the data has its process id in the file; a lock ends with its process, so that none is ever stale. */
async function heldBy(dataDirectory: string): Promise<string> {
  const pid = Number(await readFile(path.join(dataDirectory, "postgres.lock"), "utf8").catch(() => ""));
  if (!Number.isSafeInteger(pid) || pid <= 0) return ", in nobody's use";
  try {
    process.kill(pid, 0);
    return `, in use by process ${pid}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? `, in use by process ${pid} of another user` : ", in nobody's use";
  }
}
