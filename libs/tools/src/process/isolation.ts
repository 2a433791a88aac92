import type { ChildProcess } from "node:child_process";
import { systemProgram } from "./system-program.ts";

/**
 * How a process tree is held together, so that all of it can be found and killed.
 *
 * - `namespace`: a PID namespace of its own. The kernel kills everything in it with its init, whatever a process did to leave its group or session.
 * - `marked`: a process group plus a variable in the environment that descendants inherit. A process that leaves the session and also clears its
 *   environment is not found; it is noticed only as long as it holds the output pipes.
 */
export type Isolation = { readonly kind: "namespace"; readonly unshareOptions: readonly string[] } | { readonly kind: "marked" };

/** What a trial run is looked at by. */
interface Trial {
  readonly child: ChildProcess;
  readonly exited: Promise<{ readonly exitCode: number | null }>;
  stop(options: { graceMs: number }): Promise<boolean>;
}

/** Namespaces in order of preference: as root and in a user namespace, with /proc as the tree should see it and without. */
const CANDIDATES: readonly Isolation[] = [
  { kind: "namespace", unshareOptions: ["--mount-proc"] },
  { kind: "namespace", unshareOptions: ["--user", "--map-current-user", "--mount-proc"] },
  { kind: "namespace", unshareOptions: [] },
  { kind: "namespace", unshareOptions: ["--user", "--map-current-user"] },
];

/** The variable that marks the members of a `marked` tree. */
export const MARK_VARIABLE = "FORGE_PROCESS_TREE";

/**
 * Ends at once unless its parent is still the owner: the parent-death signal is not delivered for a parent that died before it was asked for.
 * Parameters: the owner's pid, then the command.
 */
const WHILE_OWNER_LIVES = '[ "$PPID" = "$1" ] || exit 125; shift; exec "$@"';

/**
 * The namespace's init: runs the command in the foreground, so that signals keep their defaults in it, reaps orphans while it waits, and passes the exit
 * code on. What the shell itself has to say about a killed command is not the command's output. Core dumps are off: they would land in the workspace.
 */
const NAMESPACE_INIT = 'ulimit -c 0; exec 9>&2 2>/dev/null; (exec 2>&9 9>&-; exec "$@"); exit $?';

/**
 * Runs the command marked, beside a watchdog that holds the read end of a pipe (descriptor 9) whose other end only the owner has: when the owner dies, it
 * kills what carries the mark, again until nothing does, then the group. Parameters: the mark, `grep`, `env`, then the command.
 */
const MARKED_LEADER = `ulimit -c 0; mark="$1"; grep="$2"; env="$3"; shift 3
(
  trap '' TERM INT HUP
  read -r _ <&9
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    found=
    for environ in /proc/[0-9]*/environ; do
      if "$grep" -qaF "${MARK_VARIABLE}=$mark" "$environ" 2>/dev/null; then pid=\${environ#/proc/}; kill -KILL "\${pid%/environ}" 2>/dev/null && found=1; fi
    done
    [ -n "$found" ] || break
  done
  kill -KILL -$$
) </dev/null >/dev/null 2>&1 &
exec "$env" "${MARK_VARIABLE}=$mark" "$@" 9<&-`;

/** The descriptor of the pipe by which a marked tree's watchdog notices that its owner has gone. */
export const WATCHDOG_DESCRIPTOR = 9;

/** The argument vector that runs a command under an isolation. `mark` is unique to the tree. */
export function isolatedCommand(isolation: Isolation, command: readonly string[], mark: string): string[] {
  const [sh = "sh", setpriv = "setpriv", unshare = "unshare", grep = "grep", env = "env"] = ["sh", "setpriv", "unshare", "grep", "env"].map(systemProgram);
  if (isolation.kind === "marked") return [sh, "-c", MARKED_LEADER, "sh", mark, grep, env, ...command];
  const bound = [setpriv, "--pdeathsig", "KILL", "--", sh, "-c", WHILE_OWNER_LIVES, "sh", String(process.pid)];
  const unshared = [unshare, "--pid", "--fork", "--kill-child=KILL", ...isolation.unshareOptions, "--", sh, "-c", NAMESPACE_INIT, "sh"];
  return [...bound, ...unshared, ...command];
}

/**
 * The strongest isolation that works here, found by running and stopping a real process in each; whether namespaces are allowed depends on capabilities,
 * sysctls, seccomp filters and container runtimes, which no single file tells.
 */
export async function detectIsolation(start: (isolation: Isolation, command: readonly string[]) => Promise<Trial>): Promise<Isolation> {
  if (process.platform !== "linux") return { kind: "marked" };
  for (const candidate of CANDIDATES) {
    if (await works(candidate, start)) return candidate;
  }
  return { kind: "marked" };
}

async function works(candidate: Isolation, start: (isolation: Isolation, command: readonly string[]) => Promise<Trial>): Promise<boolean> {
  try {
    const tree = await start(candidate, ["sh", "-c", "echo started; exec sleep 60"]);
    const started = await new Promise<boolean>((resolve) => {
      tree.child.stdout?.once("data", () => resolve(true));
      void tree.exited.then(() => resolve(false));
    });
    const stopped = await tree.stop({ graceMs: 0 });
    return started && stopped;
  } catch {
    // A program that is missing (setpriv, unshare) says the same as one that is refused.
    return false;
  }
}
