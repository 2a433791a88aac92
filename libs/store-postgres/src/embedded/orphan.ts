import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Launcher } from "./launcher.ts";
import { poll } from "./poll.ts";
import { disownPostmasterFile, isServerOf, readPostmasterFile } from "./postmaster-file.ts";
import { systemCode } from "./system-code.ts";

/** Fast, immediate, and by force, with how long each may take in milliseconds. The first writes a checkpoint, which a slow disk can stretch. */
export const SHUTDOWN_STEPS = [
  ["SIGINT", 30_000],
  ["SIGQUIT", 10_000],
  ["SIGKILL", 5_000],
] as const;

export interface EndOrphanOptions {
  onProgress?: (message: string) => void;
  signal?: AbortSignal;
}

/**
 * Makes sure that no server runs on the data directory. Call it under the directory's lock: a server found then has lost its owner, and is on its way
 * down or never heard of the owner's death. It is ended rather than kept, because the kernel would not end it with its new owner, and the signal
 * that ends it may be on its way already. What it had committed is there at the next start.
 */
export async function endOrphan(cluster: string, launcher: Launcher, { onProgress, signal }: EndOrphanOptions): Promise<void> {
  const file = await readPostmasterFile(cluster);
  const isGone = async (): Promise<boolean> => file === undefined || !(await isServerOf(file.pid, cluster));
  if (!(await isGone())) {
    onProgress?.("Waiting for the database of an earlier process to end");
    await shutDown(file?.pid ?? 0, isGone, signal);
  }
  await disownPostmasterFile(cluster, launcher);
}

async function shutDown(pid: number, isGone: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
  for (const [name, deadlineMs] of SHUTDOWN_STEPS) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if (systemCode(error) === "ESRCH") return;
      throw error;
    }
    if (await poll(isGone, { deadlineMs, signal })) return;
  }
  throw new ForgeError(ErrorCode.STORAGE_ERROR, `The database server of an earlier process (${pid}) does not end, even by force. Its disk may hang.`, {
    reason: "ORPHAN_NOT_ENDING",
    origin: "control-plane",
  });
}
