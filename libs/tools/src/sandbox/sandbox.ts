import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { ToolMode } from "@forge/protocol/tool";
import type { Enclosure } from "../process/enclosure.ts";
import { systemProgram } from "../process/system-program.ts";
import { type BubblewrapOptions, bubblewrap, bubblewrapVector, PROCESS_LIMITS, type ProcessLimits, writeSeccompFilter } from "./bubblewrap.ts";
import { type CommandGroup, makeCommandGroup } from "./cgroup.ts";
import { type DomainProxy, startDomainProxy } from "./domain-proxy.ts";
import { type HostRules, requireHostPatterns } from "./host-rules.ts";
import { gitDirectoryOf } from "./mounts.ts";
import { probeSandbox, type SandboxProbe } from "./probe-sandbox.ts";
import { hasSeccompFilter } from "./seccomp-filter.ts";

/** What to do where the sandbox does not work: refuse to run anything, run without, or never use it. */
export type SandboxPolicy = "required" | "preferred" | "off";

/** How commands of one workspace are held. */
export interface SandboxOptions {
  /** The workspace; it must exist. */
  readonly workspace: string;
  /** Absent: preferred. */
  readonly policy?: SandboxPolicy;
  /** Never shown: Forge's data directories, absolute. */
  readonly hidden?: readonly string[];
  /** Shown for reading although they lie in a home or another hidden place; absolute. */
  readonly readable?: readonly string[];
  /** Shown for writing where the workspace may be written; absolute. */
  readonly writable?: readonly string[];
  /** Hosts that commands reach through a proxy; absent or empty: no network at all. */
  readonly network?: HostRules;
  /** Where caches of package managers are kept between commands; made when it is missing. Absent: each command begins with empty ones. */
  readonly cacheDirectory?: string;
  readonly limits?: Partial<ProcessLimits>;
  /** Told each host that a command asked for and did not get. */
  readonly onRefusedHost?: (host: string) => void;
  /** How much of it works; absent: probeSandbox. */
  readonly probe?: () => Promise<SandboxProbe>;
}

/** What one command may do. */
export interface SandboxUse {
  /** `read`: nothing can be written but temporary files, and there is no network. */
  readonly access: "read" | "write";
  /** Hosts of the public internet beside those that are configured; see HostRules. Of what writes only. */
  readonly hosts?: readonly string[];
}

/** Holds the commands of one workspace. Close it when no command runs any more. */
export interface Sandbox {
  readonly workspace: string;
  /** Never rejects. */
  probe(): Promise<SandboxProbe>;
  /** What to run a command in; undefined where it runs without. Throws SANDBOX_UNAVAILABLE where a sandbox is required and not enforced. */
  enclosure(use: SandboxUse): Promise<Enclosure | undefined>;
  /** The same as an argument vector, for programs that live longer than a call; they may write, and reach the hosts that are configured, and these. */
  wrap(command: readonly string[], hosts?: readonly string[]): Promise<readonly string[]>;
  /** To be called when a command has ended: takes away what it could not be kept from putting there, and must not stay. */
  commandEnded(): Promise<void>;
  close(): Promise<void>;
}

/** Each is a server of its own, with one socket. */
const PROXIES_MAX = 64;
/** Of the machine's memory, for all commands together: the rest is left to what serves them. */
const GROUP_MEMORY_SHARE = 0.75;
const PROXY_PORT = 3128;
/** In the sandbox. */
const OWN_DIRECTORY = "/run/forge";
const ask = promisify(execFile);

/** Prepares what commands of a workspace are run in. Starts nothing before the first command asks. */
export function createSandbox(given: SandboxOptions): Sandbox {
  const options = { ...given, workspace: realpathSync(given.workspace) };
  const { workspace, policy = "preferred", network = { allow: [] }, probe: tryIt = probeSandbox } = options;
  requireHostPatterns("sandbox.network", [...network.allow, ...(network.deny ?? [])]);
  let prepared: Promise<Prepared> | undefined;
  let tried: Promise<SandboxProbe> | undefined;
  const probe = (): Promise<SandboxProbe> => {
    tried ??= tryIt();
    return tried;
  };
  const ready = async (): Promise<{ probe: SandboxProbe; prepared: Prepared } | undefined> => {
    if (policy === "off") return undefined;
    const found = await probe();
    if (policy === "required" && found.level !== "enforced") throw unavailable(found.missing);
    if (found.level === "none") return undefined;
    // Who tidies up temporary files takes it away from a server that has run for long.
    if (prepared !== undefined && !(await isThere(prepared))) prepared = undefined;
    prepared ??= prepare(options);
    return { probe: found, prepared: await prepared };
  };
  return {
    workspace,
    probe,
    enclosure: async (use) => {
      const found = await ready();
      if (found === undefined) return undefined;
      const hosts = [...new Set(use.hosts ?? [])].sort();
      return bubblewrap(layout(options, found.probe, found.prepared, use.access, await found.prepared.proxyFor(hosts)));
    },
    wrap: async (command, hosts = []) => {
      const found = await ready();
      if (found === undefined) return command;
      const laidOut = layout(options, found.probe, found.prepared, "write", await found.prepared.proxyFor([...new Set(hosts)].sort()));
      return bubblewrapVector(laidOut, command, { cwd: workspace, path: process.env.PATH, filterPath: join(found.prepared.directory, "filter") });
    },
    commandEnded: async () => {
      const directory = gitDirectoryOf(workspace);
      // Nothing but a linked worktree has one, and git would be led by a configuration that it names.
      if (directory !== undefined) await rm(join(directory, "commondir"), { force: true, recursive: true });
    },
    close: async () => {
      // It takes away what it made.
      await tried;
      await (await prepared?.catch(() => undefined))?.close();
    },
  };
}

function layout(
  options: SandboxOptions,
  probe: SandboxProbe,
  { directory, group }: Prepared,
  access: SandboxUse["access"],
  socketPath: string | undefined,
): BubblewrapOptions {
  const proxy = access === "write" ? socketPath : undefined;
  const { workspace, readable = [], writable = [], cacheDirectory } = options;
  // By what they are, as that is how the workspace is named; what is missing hides nothing.
  const hidden = (options.hidden ?? []).filter((path) => existsSync(path)).map((path) => realpathSync(path));
  return {
    workspace,
    access,
    hidden: [...hidden, directory],
    readable,
    writable: [...writable, ...(cacheDirectory === undefined ? [] : [cacheDirectory])],
    features: probe.features,
    limits: { ...PROCESS_LIMITS, ...options.limits },
    joining: group?.joining,
    extraArguments: ["--ro-bind", join(directory, "gitconfig"), `${OWN_DIRECTORY}/gitconfig`, ...(proxy === undefined ? [] : networkArguments(proxy))],
    prefix: proxy === undefined ? [] : [`${OWN_DIRECTORY}/node`, `${OWN_DIRECTORY}/network-bridge.mjs`, `${OWN_DIRECTORY}/proxy.sock`, String(PROXY_PORT)],
    environment: {
      GIT_CONFIG_GLOBAL: `${OWN_DIRECTORY}/gitconfig`,
      ...(access === "write" ? cacheVariables(cacheDirectory) : {}),
      ...(proxy === undefined ? {} : proxyVariables()),
    },
  };
}

/** The access that a mode leaves to what executes. */
export function accessOf(mode: ToolMode): SandboxUse["access"] {
  return mode === ToolMode.PLAN ? "read" : "write";
}

interface Prepared {
  /** Only this user can enter it. */
  readonly directory: string;
  /** What all commands are in; undefined where there can be none. */
  readonly group: CommandGroup | undefined;
  /** The socket of the proxy that lets through what is configured and these hosts; undefined where that is nothing. */
  proxyFor(hosts: readonly string[]): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Whether what was prepared is there still; false also of what could not be. */
async function isThere(prepared: Promise<Prepared>): Promise<boolean> {
  try {
    const found = await prepared;
    if (await stat(join(found.directory, "gitconfig")).then(Boolean, () => false)) return true;
    await found.close();
    return false;
  } catch {
    // It is tried again.
    return false;
  }
}

async function prepare({ workspace, network = { allow: [] }, cacheDirectory, limits, onRefusedHost }: SandboxOptions): Promise<Prepared> {
  const directory = await mkdtemp(join(tmpdir(), "forge-sandbox-"));
  await writeFile(join(directory, "gitconfig"), await gitConfig(workspace), { mode: 0o600 });
  if (hasSeccompFilter(process.arch)) writeSeccompFilter(join(directory, "filter"));
  if (cacheDirectory !== undefined) await mkdir(cacheDirectory, { recursive: true, mode: 0o700 });
  const { processesMax } = { ...PROCESS_LIMITS, ...limits };
  const group = await makeCommandGroup({ processesMax, memoryBytesMax: Math.floor(totalmem() * GROUP_MEMORY_SHARE) });
  const proxies = new Map<string, Promise<{ socketPath: string; proxy: DomainProxy }>>();
  const start = async (hosts: readonly string[], index: number): Promise<{ socketPath: string; proxy: DomainProxy }> => {
    const socketPath = join(directory, `proxy${index}.sock`);
    return { socketPath, proxy: await startDomainProxy(socketPath, { ...network, publicHosts: hosts }, onRefusedHost) };
  };
  return {
    directory,
    group,
    proxyFor: async (hosts) => {
      if (network.allow.length + hosts.length === 0) return undefined;
      const key = hosts.join(" ");
      let found = proxies.get(key);
      if (found === undefined) {
        if (proxies.size >= PROXIES_MAX) {
          const message = `commands have asked for ${PROXIES_MAX} different sets of hosts; configure those that are always needed`;
          throw new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, message, { reason: "TOO_MANY_HOSTS", retryable: false, origin: "tool" });
        }
        found = start(hosts, proxies.size);
        proxies.set(key, found);
      }
      return (await found).socketPath;
    },
    close: async () => {
      const started = await Promise.allSettled(proxies.values());
      await Promise.all(started.flatMap((one) => (one.status === "fulfilled" ? [one.value.proxy.close()] : [])));
      await group?.remove();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The person's name for commits, as the rest of the own configuration may hold keys; and that the workspace may be another user's, which root sees it as. */
async function gitConfig(workspace: string): Promise<string> {
  const quoted = (value: string): string => `"${value.replaceAll(/[\\"]/g, "\\$&")}"`;
  const user = await Promise.all(["name", "email"].map(async (key) => ({ key, value: await globalGitValue(`user.${key}`) })));
  const lines = user.filter(({ value }) => value !== "").map(({ key, value }) => `\t${key} = ${quoted(value)}\n`);
  return `[safe]\n\tdirectory = ${quoted(workspace)}\n${lines.length > 0 ? `[user]\n${lines.join("")}` : ""}`;
}

async function globalGitValue(key: string): Promise<string> {
  try {
    const environment = { PATH: process.env.PATH ?? "", HOME: homedir() };
    const { stdout } = await ask(systemProgram("git") ?? "git", ["config", "--global", "--get", key], { cwd: "/", env: environment, timeout: 5_000 });
    return stdout.trim();
  } catch {
    // No git, or no such value: a command that needs it says so.
    return "";
  }
}

function networkArguments(socketPath: string): string[] {
  const bridge = fileURLToPath(new URL("./network-bridge.ts", import.meta.url));
  return [
    ["--ro-bind", process.execPath, `${OWN_DIRECTORY}/node`],
    ["--ro-bind", bridge, `${OWN_DIRECTORY}/network-bridge.mjs`],
    ["--ro-bind", socketPath, `${OWN_DIRECTORY}/proxy.sock`],
  ].flat();
}

function proxyVariables(): Record<string, string> {
  const url = `http://127.0.0.1:${PROXY_PORT}`;
  // The loopback is the command's own, as are the servers that it starts there.
  const own = "localhost,127.0.0.1,::1";
  return { HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url, NO_PROXY: own, no_proxy: own, NODE_USE_ENV_PROXY: "1" };
}

function cacheVariables(directory: string | undefined): Record<string, string> {
  if (directory === undefined) return {};
  return { XDG_CACHE_HOME: directory, npm_config_cache: join(directory, "npm"), PIP_CACHE_DIR: join(directory, "pip") };
}

function unavailable(missing: readonly string[]): ForgeError {
  return new ForgeError(ErrorCode.UNSUPPORTED, `a sandbox is required, and this machine lacks ${missing.join(", ")}; nothing was run`, {
    reason: "SANDBOX_UNAVAILABLE",
    origin: "tool",
  });
}
