import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProcess } from "../process/run-process.ts";
import { systemProgram } from "../process/system-program.ts";
import { ALL_FEATURES, type BubblewrapFeatures, bubblewrap, PROCESS_LIMITS } from "./bubblewrap.ts";

/** How much of the sandbox works on this machine. */
export interface SandboxProbe {
  /** All of it, some of it, or none. */
  readonly level: "enforced" | "partial" | "none";
  /** What does not, in words for people. */
  readonly missing: readonly string[];
  readonly features: BubblewrapFeatures;
}

/** A machine that answers later than this is not one to wait for before every command. */
const PROBE_TIMEOUT_MS = 5_000;

/** Tries what a sandboxed command must not be able to do; prints a word for each that it could. */
const SCRIPT = `
( : > ./probe ) 2>/dev/null && echo write
( : > /etc/forge-probe ) 2>/dev/null && echo system
( : > /proc/sys/kernel/core_uses_pid ) 2>/dev/null && echo kernel
unshare --user true 2>/dev/null && echo userns
while read -r name value; do
  case $name in
    Seccomp:) [ "$value" = 2 ] || echo seccomp ;;
    CapEff:|CapBnd:) case $value in *[!0]*) echo capabilities ;; esac ;;
  esac
done < /proc/self/status
while read -r name rest; do case $name in lo:|Inter-*|face) ;; *) echo network ;; esac; done < /proc/net/dev
echo done
`;

const WORDS: Readonly<Record<string, string>> = {
  write: "read-only workspaces",
  system: "a read-only system",
  kernel: "protection of the kernel's settings",
  userns: "refusing user namespaces",
  seccomp: "a filter of system calls",
  capabilities: "dropping all capabilities",
  network: "a network of its own",
};

let probed: Promise<SandboxProbe> | undefined;

/** Tries the sandbox by a real run, once per process. Never rejects. */
export function probeSandbox(): Promise<SandboxProbe> {
  probed ??= probe().catch((error: unknown) => none(`leave to run bwrap: ${(error as Error).message}`));
  return probed;
}

function none(missing: string): SandboxProbe {
  return { level: "none", missing: [missing], features: ALL_FEATURES };
}

async function probe(): Promise<SandboxProbe> {
  if (process.platform !== "linux") return none(`a sandbox for ${process.platform}`);
  if (systemProgram("bwrap") === undefined) return none("the program bwrap, of the package bubblewrap");
  const workspace = await realpath(await mkdtemp(join(tmpdir(), "forge-probe-")));
  try {
    let told = "";
    for (const disableUserNamespaces of [true, false]) {
      const features = { ...ALL_FEATURES, disableUserNamespaces };
      const { exitCode, stdout, stderr } = await runProcess({
        command: [systemProgram("sh") ?? "sh", "-c", SCRIPT],
        cwd: workspace,
        timeoutMs: PROBE_TIMEOUT_MS,
        enclosure: bubblewrap({ workspace, access: "read", hidden: [], readable: [], writable: [], features, limits: PROCESS_LIMITS }),
      });
      told ||= stderr.text.trim().split("\n")[0] ?? "";
      const words = stdout.text.trim().split("\n");
      if (exitCode !== 0 || words.pop() !== "done") continue;
      const missing = [...new Set(words)].map((word) => WORDS[word] ?? word);
      if (systemProgram("prlimit") === undefined) missing.push("limits of memory and processes (the program prlimit)");
      return { level: missing.length === 0 ? "enforced" : "partial", missing, features };
    }
    return none(`leave to run bwrap${told === "" ? "" : `: ${told}`}`);
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}
