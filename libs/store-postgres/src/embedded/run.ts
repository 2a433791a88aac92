import { spawn } from "node:child_process";
import { systemCode } from "./system-code.ts";

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** A file descriptor that the program finds as its descriptor 3. */
  inheritedFd?: number;
  /** Kills the program and everything it started. */
  signal?: AbortSignal;
}

export interface RunResult {
  /** The exit code; null when a signal ended it. */
  code: number | null;
  /** The last 64 KiB of what it wrote to standard output and error, in order of arrival. */
  output: string;
}

const OUTPUT_BYTES_MAX = 64 * 1024;

/**
 * Runs a short-lived program to its end, and to the end of whatever holds its output. It gets a process group of its own, so that a Ctrl-C at the
 * terminal does not reach it. Rejects when it can't be started (ENOENT: it is not installed), or with the signal's reason.
 */
export function run(command: readonly string[], { cwd, env, inheritedFd, signal }: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const [program = "", ...args] = command;
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe", inheritedFd ?? "ignore"] });
    let output = Buffer.alloc(0);
    const collect = (chunk: Buffer): void => {
      output = Buffer.concat([output, chunk]).subarray(-OUTPUT_BYTES_MAX);
    };
    child.stdout?.on("data", collect);
    child.stderr?.on("data", collect);
    const kill = (): void => killGroup(child.pid);
    signal?.addEventListener("abort", kill, { once: true });
    child.once("error", (error) => {
      signal?.removeEventListener("abort", kill);
      reject(error);
    });
    child.once("close", (code) => {
      signal?.removeEventListener("abort", kill);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve({ code, output: output.toString("utf8").trim() });
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // The group may have ended between the abort and this call, which is what was wanted.
    if (systemCode(error) !== "ESRCH") throw error;
  }
}
