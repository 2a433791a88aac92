import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ErrorCode } from "@forge/protocol/common";
import pg from "pg";
import { poll } from "../poll.ts";
import type { EmbeddedConnection } from "../start-embedded.ts";

/** What the process of `owner.ts` says of itself. */
export interface OwnerLine {
  progress?: string;
  interrupted?: true;
  started?: { pid: number; connection: EmbeddedConnection; launcher: string };
  failed?: { code: ErrorCode; reason: string; message: string };
}

export interface Owner {
  readonly process: ChildProcess;
  /** The next line that it prints; rejects when there is none. */
  next(): Promise<OwnerLine>;
  /** Reads on to the line that says that the server has started. */
  started(): Promise<NonNullable<OwnerLine["started"]>>;
  /** Reads on to the line that says that it has not. */
  failed(): Promise<NonNullable<OwnerLine["failed"]>>;
  /** kill -9, awaited. */
  kill(): Promise<void>;
  /** kill -9 and removal of what that leaves outside the data directory. */
  discard(): Promise<void>;
  /** Lets it end in order, and answers its exit code. */
  end(): Promise<number | null>;
  /** Lets it come to the end of its program without stopping the server, and answers its exit code. */
  leave(): Promise<number | null>;
}

export const NOBODY = 65_534;

const OWNER_SCRIPT = fileURLToPath(new URL("./owner.ts", import.meta.url));

/** Why a test can't start an owner as this user: a checkout below a directory of root's own is closed to everybody else. Undefined when it can. */
export function whyNotAs(uid: number): string | undefined {
  const reach = spawnSync(process.execPath, ["-e", "fs.accessSync(process.argv[1])", OWNER_SCRIPT], { uid, gid: uid, cwd: "/" });
  return reach.status === 0 ? undefined : `user ${uid} does not reach this checkout: run the tests in a directory that all users may enter`;
}

/** Starts a process that owns a server; as another user when a `uid` is given. */
export function startOwner(dataDirectory: string, launcher = "chosen", { uid }: { uid?: number } = {}): Owner {
  const child = spawn(process.execPath, [OWNER_SCRIPT, dataDirectory, launcher], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const sockets = new Set<string>();
  const next = async (): Promise<OwnerLine> => {
    const { done, value } = await lines.next();
    if (done) throw new Error("The owner ended without another line.");
    const line = JSON.parse(value) as OwnerLine;
    if (line.started !== undefined) sockets.add(line.started.connection.host);
    return line;
  };
  const until = async <K extends keyof OwnerLine>(key: K): Promise<NonNullable<OwnerLine[K]>> => {
    for (;;) {
      const line = await next();
      const value = line[key];
      if (value !== undefined) return value;
      if (line.progress === undefined) throw new Error(`Expected ${key}, got ${JSON.stringify(line)}`);
    }
  };
  const exited = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  const end = async (word: string): Promise<number | null> => {
    child.stdin.end(word);
    return ((await exited) as [number | null])[0];
  };
  return {
    process: child,
    next,
    started: () => until("started"),
    failed: () => until("failed"),
    kill,
    async discard() {
      await kill();
      for (const socket of sockets) await removeDirectory(socket);
    },
    end: () => end(""),
    leave: () => end("leave"),
  };
}

/** A directory for one test; another user's when a `uid` is given. */
export async function makeDirectory(uid?: number): Promise<string> {
  const directory = await mkdtemp(path.join("/tmp", "forge-embedded-test-"));
  if (uid !== undefined) await chown(directory, uid, uid);
  return directory;
}

export async function removeDirectory(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

/** Runs a statement on a connection of its own and answers the rows. */
export async function query(connection: EmbeddedConnection, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connection);
  // When the server dies, the query in flight says so as well.
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Whether the process is there and more than a zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    // Its folder in /proc goes with it.
    return false;
  }
}

/** Waits until the process has ended; false when it has not after ten seconds. */
export function ended(pid: number): Promise<boolean> {
  return poll(async () => !isAlive(pid), { deadlineMs: 10_000 });
}
