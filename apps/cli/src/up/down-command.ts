import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { dataDirectoryOf, readAddress } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { CommonOptions, Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { showStatus } from "../output/status-line.ts";
import { attach } from "../server/attach.ts";
import { locateProject } from "../server/locate-project.ts";
import { refuseForeignData } from "../server/settle-data.ts";

export interface DownOptions extends CommonOptions {
  /** What runs gets so long to finish, in milliseconds; absent: as long as the server gives it. */
  readonly drain?: number;
}

/** The server's own drain, and the end of its database. */
const END_MS_MAX = 90_000;
const LOOK_MS = 20;

/** `forge down`: ends the project's server, after what is running. */
export async function downCommand(context: Context, options: DownOptions): Promise<number> {
  const { terminal } = context;
  const { root } = await locateProject(context, options, { hasData: true });
  await refuseForeignData({ root, dataDirectory: dataDirectoryOf(root), environment: context.environment });
  const pid = (await readAddress(dataDirectoryOf(root)))?.pid ?? (await holderOf(root));
  if (pid === undefined) {
    if (options.json === true) terminal.print(JSON.stringify({ stopped: false }));
    else terminal.note(`Forge does not run for ${root}.`);
    return EXIT.OK;
  }
  await mustBeServer(root, pid);
  const status = showStatus(terminal, options.json === true);
  try {
    status.say("Ending Forge, after what is running");
    process.kill(pid, "SIGTERM");
    const hurryAtMs = options.drain === undefined ? Number.POSITIVE_INFINITY : Date.now() + options.drain;
    const deadlineMs = Math.min(hurryAtMs, Date.now()) + END_MS_MAX;
    for (let hurried = false; isAlive(pid); await sleep(LOOK_MS)) {
      if (!hurried && Date.now() >= hurryAtMs) {
        hurried = true;
        process.kill(pid, "SIGTERM");
      }
      if (Date.now() > deadlineMs)
        throw new ForgeError(ErrorCode.DEADLINE_EXCEEDED, `process ${pid} has not ended after ${END_MS_MAX / 1000} s: see ${dataDirectoryOf(root)}/forge.log`, {
          reason: "SERVER_END",
        });
    }
  } finally {
    status.close();
  }
  terminal.print(options.json === true ? JSON.stringify({ stopped: true, pid }) : `Ended process ${pid}.`);
  return EXIT.OK;
}

/** Process ids are given out anew: only one that answers with this project's token, or was started as a server of Forge, is sent a signal. */
async function mustBeServer(root: string, pid: number): Promise<void> {
  const attached = await attach(root).catch((error: unknown) => {
    // One that does not know the token is told by what it was started as.
    if (error instanceof ForgeError && error.code === ErrorCode.UNAUTHENTICATED) return undefined;
    throw error;
  });
  await attached?.client.close();
  if (attached?.address.pid === pid || (await isStartedAsServer(pid))) return;
  throw new ForgeError(
    ErrorCode.CONFLICT,
    `process ${pid} does not answer and does not look like a server of Forge; if it is one, end it yourself, else remove ${dataDirectoryOf(root)}/address.json`,
    {
      reason: "SERVER_UNKNOWN",
      metadata: { pid: String(pid) },
    },
  );
}

/** Who holds the data without an address: a server that is starting, or whose address was lost. */
async function holderOf(root: string): Promise<number | undefined> {
  const pid = Number(await readFile(path.join(dataDirectoryOf(root), "postgres.lock"), "utf8").catch(() => ""));
  return Number.isSafeInteger(pid) && pid > 0 && (await isStartedAsServer(pid)) ? pid : undefined;
}

async function isStartedAsServer(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  const words = command.split("\0");
  return words.includes("up") && words.some((word) => /(?:^|\/)(?:forge|main\.[jt]s)$/.test(word));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
