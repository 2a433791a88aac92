import { userInfo } from "node:os";
import { unsupported } from "./embedded-error.ts";
import { run } from "./run.ts";

/** How PostgreSQL's programs are started on this machine by this user. PostgreSQL refuses to run as root, and must not outlive its owner. */
export interface Launcher {
  readonly kind: "direct" | "user-namespace" | "unprivileged-user";
  /** Who owns the server's files, as seen from here. */
  readonly uid: number;
  readonly gid: number;
  /** Whether the kernel ends what is launched when this process dies; otherwise a watchdog must. */
  readonly diesWithParent: boolean;
  /** The words to put before a program; `deathSignal` is what it gets when this process dies. */
  readonly prefix: (deathSignal: "INT" | "KILL") => readonly string[];
}

/** `nobody`, the user that every Linux has an entry for; initdb insists on an entry. */
const NOBODY = 65_534;

const USER_NAMESPACE = ["unshare", "--user", `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];

/**
 * Root's rights without root's number. Data and programs may lie below directories that only root enters, so the right to pass file permissions is
 * kept; without the secure bit, access(2) would ignore it. All other rights are dropped.
 */
const UNPRIVILEGED_USER = [
  "setpriv",
  `--reuid=${NOBODY}`,
  `--regid=${NOBODY}`,
  "--clear-groups",
  "--securebits=+no_setuid_fixup",
  "--inh-caps=-all,+dac_override",
  "--ambient-caps=-all,+dac_override",
  "--bounding-set=-all,+dac_override",
];

/**
 * Closes the gap between the start of a program and its death signal: when this process is gone already, nothing is started. The shell's $0 is the
 * process that must be its parent.
 */
const IF_PARENT_LIVES = ["/bin/sh", "-c", '[ "$PPID" -eq "$0" ] && exec "$@"', String(process.pid)];

/** Starts programs as the user that this process is. */
export function directLauncher(diesWithParent: boolean): Launcher {
  return {
    kind: "direct",
    ...self(),
    diesWithParent,
    prefix: (deathSignal) => (diesWithParent ? ["setpriv", `--pdeathsig=${deathSignal}`, ...IF_PARENT_LIVES] : []),
  };
}

/** Starts programs in a user namespace where this user looks like `nobody`; outside of it the files stay this user's own. */
export function userNamespaceLauncher(): Launcher {
  return {
    kind: "user-namespace",
    ...self(),
    diesWithParent: true,
    prefix: (deathSignal) => [...USER_NAMESPACE, "setpriv", `--pdeathsig=${deathSignal}`, ...IF_PARENT_LIVES],
  };
}

/** Starts programs as `nobody`, who then owns the files. For root where user namespaces are refused, as in most containers. */
export function unprivilegedUserLauncher(): Launcher {
  return {
    kind: "unprivileged-user",
    uid: NOBODY,
    gid: NOBODY,
    diesWithParent: true,
    prefix: (deathSignal) => [...UNPRIVILEGED_USER, `--pdeathsig=${deathSignal}`, ...IF_PARENT_LIVES],
  };
}

/** The first way that works here, found by trying: each try takes a few milliseconds. Throws `unsupported` when none does. */
export async function chooseLauncher(): Promise<Launcher> {
  if (process.platform === "win32") throw unsupported("The embedded database does not run on Windows: use WSL.");
  const isRoot = self().uid === 0;
  if (process.platform !== "linux") {
    if (isRoot) throw unsupported("PostgreSQL refuses to run as root: run as an ordinary user.");
    return directLauncher(false);
  }
  if (!isRoot && hasPasswordEntry()) {
    const direct = directLauncher(true);
    return (await works(direct)) ? direct : directLauncher(false);
  }
  const candidates = isRoot ? [userNamespaceLauncher(), unprivilegedUserLauncher()] : [userNamespaceLauncher()];
  for (const launcher of candidates) if (await works(launcher)) return launcher;
  throw unsupported(
    isRoot
      ? "PostgreSQL refuses to run as root, and neither a user namespace (`unshare --user`) nor another user (`setpriv --reuid`) is allowed here: run as an ordinary user."
      : "This user has no entry in /etc/passwd, which PostgreSQL needs, and user namespaces are refused: add an entry or run as another user.",
  );
}

async function works(launcher: Launcher): Promise<boolean> {
  try {
    return (await run([...launcher.prefix("KILL"), "true"])).code === 0;
  } catch {
    // The program is not installed, so this way is closed; what is missing in the end is said by who called.
    return false;
  }
}

function self(): { uid: number; gid: number } {
  return { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 };
}

function hasPasswordEntry(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    // It throws for nothing but a missing entry.
    return false;
  }
}
