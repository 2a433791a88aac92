import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { unsupported } from "./embedded-error.ts";
import { run } from "./run.ts";
import { systemCode } from "./system-code.ts";

export interface DirectoryLock {
  /** Gives the lock up. A second call does nothing. */
  release(): void;
}

/** macOS opens and locks in one call; Node has no name for the flag. */
const O_EXLOCK = 0x20;

/**
 * Makes this process the only one that runs a server on a data directory, or throws `conflict`, reason DATA_DIRECTORY_IN_USE.
 *
 * The lock is flock(2) on an open file, so the kernel gives it up with the process, kill -9 included, and nothing is ever stale. Node has no flock, but
 * the lock belongs to the open file, not to the process that asks for it: `flock` takes it on a descriptor that it inherits, and ends. The file stays
 * when the lock goes; removing it would let two processes lock two files of one name. Its content, the owner's process id, is for messages only.
 */
export async function lockDirectory(dataDirectory: string): Promise<DirectoryLock> {
  const file = path.join(dataDirectory, "postgres.lock");
  // A plain descriptor: a FileHandle would be closed, and the lock lost, once nobody refers to it any more.
  const fd = openLocked(file, dataDirectory);
  try {
    if (process.platform !== "darwin" && !(await flock(fd))) throw inUse(file, dataDirectory);
    ftruncateSync(fd);
    writeSync(fd, `${process.pid}\n`, 0);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      ftruncateSync(fd);
      closeSync(fd);
    },
  };
}

function openLocked(file: string, dataDirectory: string): number {
  const flags = constants.O_RDWR | constants.O_CREAT;
  if (process.platform !== "darwin") return openSync(file, flags, 0o600);
  try {
    return openSync(file, flags | O_EXLOCK | constants.O_NONBLOCK, 0o600);
  } catch (error) {
    if (systemCode(error) === "EAGAIN") throw inUse(file, dataDirectory);
    throw error;
  }
}

/** Whether the lock was free; it is now held by the open file. */
async function flock(fd: number): Promise<boolean> {
  const { code, output } = await run(["flock", "-x", "-n", "3"], { inheritedFd: fd }).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") throw unsupported("The program `flock` is missing: install the package util-linux.");
    throw error;
  });
  if (code === 0) return true;
  if (code === 1) return false;
  throw unsupported(`The data directory's file system does not support locks (${output}): use a local disk.`);
}

function inUse(file: string, dataDirectory: string): ForgeError {
  const pid = readFileSync(file, "utf8").trim();
  const owner = pid === "" ? "another process" : pid === String(process.pid) ? `this process (${pid})` : `process ${pid}`;
  return new ForgeError(
    ErrorCode.CONFLICT,
    `The data directory ${dataDirectory} is in use by ${owner}. Use that one, stop it with \`forge down\`, or choose another directory.`,
    { reason: "DATA_DIRECTORY_IN_USE", origin: "control-plane", metadata: { data_directory: dataDirectory, ...(pid === "" ? {} : { pid }) } },
  );
}
