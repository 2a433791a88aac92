import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { SHUTDOWN_STEPS } from "./orphan.ts";

/**
 * A shell that outlives this process just long enough to end the server, for systems whose kernel can't do it. It reads from a pipe whose other end is
 * ours: the pipe's end is our death, a word is our leave. $0 is the server, $1 how many seconds it may take to end in order.
 */
const SCRIPT = `
trap '' INT TERM HUP
read -r word && exit 0
kill -INT "$0" || exit 0
while [ "$1" -gt 0 ] && kill -0 "$0"; do sleep 1; set -- $(($1 - 1)); done
kill -QUIT "$0"
`;

export interface Watchdog {
  /** Sends it away, once the server has ended. */
  release(): void;
}

/** Ends the server `pid` soon after this process has died, however it died. */
export function startWatchdog(pid: number): Watchdog {
  const patienceSeconds = SHUTDOWN_STEPS[0][1] / 1_000;
  const child = spawn("/bin/sh", ["-c", SCRIPT, String(pid), String(patienceSeconds)], { cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"] });
  // Nobody can be told; the server then lives on after a crash of ours, and the next start ends it.
  child.on("error", () => {});
  child.stdin.on("error", () => {});
  // Neither it nor the pipe keeps this process alive.
  child.unref();
  (child.stdin as Socket).unref();
  return { release: () => void child.stdin.end("leave\n") };
}
