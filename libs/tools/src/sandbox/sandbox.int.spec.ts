import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type ProcessResult, runProcess } from "../process/run-process.ts";
import { systemProgram } from "../process/system-program.ts";
import { eventually, processesWith } from "../testing/processes.ts";
import { makeCommandGroup } from "./cgroup.ts";
import { probeSandbox } from "./probe-sandbox.ts";
import { createSandbox, type SandboxOptions } from "./sandbox.ts";

const probe = await probeSandbox();
const group = await makeCommandGroup({ processesMax: 64, memoryBytesMax: 1024 ** 3 });
await group?.remove();
const python = systemProgram("python3") ?? "python3";

let base: string;
let workspace: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forge-sandbox-test-")));
  workspace = join(base, "work");
  mkdirSync(workspace);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

async function run(command: string | string[], access: "read" | "write" = "write", options: Partial<SandboxOptions> = {}): Promise<ProcessResult> {
  const sandbox = createSandbox({ workspace, policy: "required", ...options });
  try {
    return await runProcess({ command, cwd: workspace, enclosure: await sandbox.enclosure({ access }), timeoutMs: 20_000 });
  } finally {
    await sandbox.close();
  }
}

test("all of it works on this machine; where it does not, the tests below tell nothing", () => {
  expect(probe).toMatchObject({ level: "enforced", missing: [] });
});

describe("files", () => {
  test("the workspace is written to where it may be", async () => {
    expect(await run("echo x > a && mkdir b && echo y > b/c && cat a b/c")).toMatchObject({ exitCode: 0, stdout: { text: "x\ny\n" } });
    expect(readFileSync(join(workspace, "b/c"), "utf8")).toBe("y\n");
  });

  test("and not where it may only be read", async () => {
    writeFileSync(join(workspace, "a"), "x");
    const { exitCode, stderr } = await run("cat a >/dev/null && ! echo y > a && ! echo y > b && ! rm a && echo z > /tmp/z && cat /tmp/z", "read");
    expect(exitCode, stderr.text).toBe(0);
    expect(readdirSync(workspace)).toEqual(["a"]);
    expect(readFileSync(join(workspace, "a"), "utf8")).toBe("x");
  });

  test("nothing outside of it is written to, not by a link, a hard link or a new mount either", async () => {
    const outside = join(homedir(), `.forge-outside-${process.pid}`);
    onTestFinished(() => rmSync(outside, { force: true }));
    const script = `echo x > '${outside}'; ln -s / root; echo x > root/etc/forge-x; echo x > ../x; ln /etc/hostname h; mount -t tmpfs x /mnt; echo x > /proc/sys/kernel/domainname; echo x > /usr/forge-x; true`;
    expect(await run(script)).toMatchObject({ exitCode: 0 });
    expect(existsSync(outside)).toBe(false);
    expect(existsSync("/etc/forge-x")).toBe(false);
    expect(readdirSync(base)).toEqual(["work"]);
    expect(existsSync(join(workspace, "h"))).toBe(false);
  });

  test("homes, sockets of services, temporary files of others and hidden directories are not shown", async () => {
    const data = join(workspace, ".forge", "data");
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "token"), "s3cret");
    writeFileSync(join(base, "other"), "s3cret");
    const neighbour = mkdtempSync(join(tmpdir(), "forge-neighbour-"));
    onTestFinished(() => rmSync(neighbour, { recursive: true }));
    const home = homedir();
    const script = `cat '${base}/other' .forge/data/token; ls -A .forge/data; ls -A '${tmpdir()}' | grep neighbour; ls -A /run; ls -A '${home}' | grep -E '^\\.(ssh|npm|bash|profile|config|git)'; true`;
    const { stdout } = await run(script, "write", { hidden: [data] });
    expect(stdout.text).toBe("forge\n");
  });

  test("a workspace and what is hidden in it may be named through links", async () => {
    mkdirSync(join(workspace, ".forge/data"), { recursive: true });
    writeFileSync(join(workspace, ".forge/data/token"), "s3cret");
    symlinkSync(workspace, join(base, "link"));
    const sandbox = createSandbox({ workspace: join(base, "link"), policy: "required", hidden: [join(base, "link/.forge/data")] });
    const command = "echo x > a; mv .forge y; cat .forge/data/token y/data/token; true";
    const { stdout } = await runProcess({ command, cwd: workspace, enclosure: await sandbox.enclosure({ access: "write" }) });
    await sandbox.close();
    expect([stdout.text, readdirSync(workspace)]).toEqual(["", [".forge", "a"]]);
  });

  test("a hidden directory in the workspace can't be moved away to be looked at", async () => {
    const data = join(workspace, ".forge", "data");
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "token"), "s3cret");
    const { stdout } = await run("mv .forge/data x; mv .forge y; rm -rf .forge; cat y/data/token x/token .forge/data/token; true", "write", { hidden: [data] });
    expect(stdout.text).toBe("");
    expect(readFileSync(join(data, "token"), "utf8")).toBe("s3cret");
  });

  test("a directory that is hidden is shown where it was asked for", async () => {
    const extra = join(base, "extra");
    mkdirSync(extra);
    writeFileSync(join(extra, "x"), "shown");
    expect((await run(`cat '${extra}/x'; echo y > '${extra}/y'`, "write", { readable: [extra] })).stdout.text).toBe("shown");
    expect((await run(`echo y > '${extra}/y'`, "write", { writable: [extra] })).exitCode).toBe(0);
    expect(readdirSync(extra)).toEqual(["x", "y"]);
  });
});

describe("a repository", () => {
  const git = (...parameters: string[]) => execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...parameters], { cwd: workspace });

  beforeEach(() => {
    git("init", "--quiet");
    writeFileSync(join(workspace, "a"), "x\n");
    git("add", ".");
    git("commit", "--quiet", "--message=first");
  });

  test("is committed to, and what git would run or be led by stays as it is", async () => {
    const config = readFileSync(join(workspace, ".git/config"), "utf8");
    const script = `
      echo y >> a && git -c user.name=a -c user.email=a@example.org commit -qam second && git log --oneline | wc -l
      echo 'touch /tmp/x' > .git/hooks/pre-commit; git config core.fsmonitor ./evil; echo '[core]' >> .git/config
      mv .git/hooks .git/hooks2; mv .git moved; rm -rf .git/hooks .git/config; true`;
    const { stdout, stderr } = await run(script);
    expect(stdout.text.trim(), stderr.text).toBe("2");
    expect(existsSync(join(workspace, ".git/hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(workspace, "moved"))).toBe(false);
    expect(readFileSync(join(workspace, ".git/config"), "utf8")).toBe(config);
  });

  test("keeps leading git to its own configuration, and that of its submodules and worktrees", async () => {
    git("worktree", "add", "--quiet", join(base, "tree"));
    mkdirSync(join(workspace, ".git/modules/sub"), { recursive: true });
    writeFileSync(join(workspace, ".git/modules/sub/config"), "[core]\n");
    const script = `
      echo ../evil > .git/commondir; echo /evil > .git/worktrees/tree/commondir; echo x > .git/modules/sub/config; mkdir .git/modules/sub/hooks; mv .git/modules .git/m; mv .git/worktrees/tree/commondir .git/x; mv .git/worktrees .git/y; mv .git/worktrees/tree .git/z; true`;
    const sandbox = createSandbox({ workspace, policy: "required" });
    await runProcess({ command: script, cwd: workspace, enclosure: await sandbox.enclosure({ access: "write" }) });
    await sandbox.commandEnded();
    await sandbox.close();
    expect(existsSync(join(workspace, ".git/commondir"))).toBe(false);
    expect(readFileSync(join(workspace, ".git/worktrees/tree/commondir"), "utf8")).toBe("../..\n");
    expect(readdirSync(join(workspace, ".git/worktrees/tree"))).toEqual(expect.arrayContaining(["commondir", "gitdir"]));
    expect(readdirSync(join(workspace, ".git/modules/sub"))).toEqual(["config"]);
    expect(readFileSync(join(workspace, ".git/modules/sub/config"), "utf8")).toBe("[core]\n");
  });

  test("gets no configuration of a worktree's own, and no repositories of submodules, where it had none", async () => {
    git("config", "extensions.worktreeConfig", "true");
    rmSync(join(workspace, ".git/hooks"), { recursive: true });
    const script = `
      git config --worktree core.fsmonitor ./evil; echo '[core]' > .git/config.worktree; rm -f .git/config.worktree; echo '[core]' > .git/config.worktree
      mkdir -p .git/modules/sub .git/hooks; echo x > .git/modules/sub/config; echo x > .git/hooks/pre-commit
      echo y >> a && git -c user.name=a -c user.email=a@example.org commit -qam second && git log --oneline | wc -l`;
    const { stdout, stderr } = await run(script);
    expect(stdout.text.trim(), stderr.text).toBe("2");
    expect(readFileSync(join(workspace, ".git/config.worktree"), "utf8")).toBe("");
    expect([readdirSync(join(workspace, ".git/modules")), readdirSync(join(workspace, ".git/hooks"))]).toEqual([[], []]);
    expect(git("status", "--short").toString()).toBe("");
  });

  test("that is a worktree of another is committed to there", async () => {
    git("worktree", "add", "--quiet", join(base, "tree"));
    workspace = join(base, "tree");
    const { exitCode, stderr } = await run(
      "echo y >> a && git -c user.name=a -c user.email=a@example.org commit -qam second; echo x > ../work/.git/hooks/pre-commit; echo x > ../work/b; git status --short",
    );
    expect(exitCode, stderr.text).toBe(0);
    expect(git("log", "--oneline").toString().trim().split("\n")).toHaveLength(2);
    expect(readdirSync(join(base, "work"))).toEqual([".git", "a"]);
    expect(existsSync(join(base, "work/.git/hooks/pre-commit"))).toBe(false);
  });

  test("that only says it is a worktree of another opens nothing", async () => {
    const other = join(base, "other");
    mkdirSync(join(other, "worktrees/x"), { recursive: true });
    writeFileSync(join(other, "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(other, "worktrees/x/gitdir"), "/somewhere/else/.git\n");
    rmSync(join(workspace, ".git"), { recursive: true });
    writeFileSync(join(workspace, ".git"), `gitdir: ${other}/worktrees/x\n`);
    await run(`echo x > '${other}/x'`);
    expect(readdirSync(other)).toEqual(["HEAD", "worktrees"]);
  });
});

describe("the kernel", () => {
  test("gives no capability, no user namespace, and none of the calls that are refused", async () => {
    const script = `
import ctypes, fcntl, os, socket, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *a):
    ctypes.set_errno(0)
    r = getattr(libc, name)(*a) if isinstance(name, str) else libc.syscall(name, *a)
    return errno.errorcode.get(ctypes.get_errno(), "ok") if r == -1 else "ok"
arm = os.uname().machine == "aarch64"
print("ptrace", call("ptrace", 0, 0, 0, 0))
print("keyctl", call(219 if arm else 250, 0, -3, 1))
print("bpf", call(280 if arm else 321, 0, 0, 0))
print("io_uring", call(425, 1, 0))
print("unshare", call("unshare", 0x10000000))
print("mount", call("mount", b"x", b"/mnt", b"tmpfs", 0, None))
def attempt(f):
    try: f(); return "ok"
    except OSError as e: return errno.errorcode[e.errno]
master, slave = os.openpty()
print("tiocsti", attempt(lambda: fcntl.ioctl(slave, 0x5412, b"x")))
print("vsock", attempt(lambda: socket.socket(40, socket.SOCK_STREAM)))
print("caps", [l.split()[1] for l in open("/proc/self/status") if l.startswith("CapEff")][0])
print("processes", len([p for p in os.listdir("/proc") if p.isdigit()]) < 8)
`;
    writeFileSync(join(workspace, "x.py"), script);
    const { stdout, stderr } = await run([python, "x.py"], "write");
    expect(stdout.text, stderr.text).toBe(
      "ptrace EPERM\nkeyctl EPERM\nbpf EPERM\nio_uring ENOSYS\nunshare EPERM\nmount EPERM\ntiocsti EPERM\nvsock EPERM\ncaps 0000000000000000\nprocesses True\n",
    );
  });

  test("gives a process no more memory than is allowed", async () => {
    const { exitCode, stderr } = await run([python, "-c", "x = bytearray(300 * 1024 * 1024)"], "write", { limits: { memoryBytesMax: 256 * 1024 * 1024 } });
    expect(exitCode).toBe(1);
    expect(stderr.text).toContain("MemoryError");
  });

  test.runIf(group !== undefined || process.getuid?.() !== 0)("gives commands no more processes than are allowed", async () => {
    const { stderr } = await run("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 5 & done; true", "write", { limits: { processesMax: 12 } });
    expect(stderr.text).toMatch(/fork/i);
  });

  test.runIf(group !== undefined)("leaves no control group behind", async () => {
    const mine = async (): Promise<string[]> =>
      (await readdir("/sys/fs/cgroup", { recursive: true }).catch(() => [])).filter((name) => basename(name).startsWith(`forge-${process.pid}-`));
    await run("true");
    expect(await mine()).toEqual([]);
  });
});

test("what ignores SIGTERM and leaves the session is gone at the end, and a command may clean up", async () => {
  const mark = `sleep ${810_000 + (process.pid % 1000)}`;
  const sandbox = createSandbox({ workspace, policy: "required" });
  const abort = new AbortController();
  const command = `trap 'echo cleaned' TERM; (trap '' TERM; setsid sh -c 'trap "" TERM; ${mark} & ${mark}') & echo ready; wait; wait`;
  const ended = runProcess({
    command,
    cwd: workspace,
    enclosure: await sandbox.enclosure({ access: "write" }),
    signal: abort.signal,
    graceMs: 300,
  });
  const running = async (): Promise<number> => (await processesWith(mark.replace(" ", "\0"))).length;
  await eventually("two processes", async () => (await running()) === 2);
  abort.abort();
  expect(await ended).toMatchObject({ ended: "aborted", confirmedStopped: true, stdout: { text: "ready\ncleaned\n" } });
  expect(await running()).toBe(0);
  await sandbox.close();
});

test("exit codes and signals are the command's own, and a command that reads ends", async () => {
  expect(await run("exit 7")).toMatchObject({ exitCode: 7 });
  expect(await run("kill -SEGV $$")).toMatchObject({ signal: "SIGSEGV" });
  expect(await run("cat; echo end")).toMatchObject({ exitCode: 0, stdout: { text: "end\n" } });
  expect(await run(["forge-no-such-program"])).toMatchObject({ exitCode: 127 });
});

describe("the network", () => {
  const fetchIn = (url: string): string[] => [
    process.execPath,
    "-e",
    `fetch(${JSON.stringify(url)}).then(async (r) => console.log(r.status, (await r.text()).trim()), (e) => console.log("failed", e.cause?.code ?? e.message))`,
  ];

  /** As a program does that speaks to the proxy in plain HTTP. */
  const getIn = (url: string): string[] => [
    "env",
    "NODE_USE_ENV_PROXY=0",
    process.execPath,
    "-e",
    `require("http").get({ host: "127.0.0.1", port: 3128, path: ${JSON.stringify(url)} }, (r) => { process.stdout.write(r.statusCode + " "); r.pipe(process.stdout); })`,
  ];

  async function serve(): Promise<number> {
    const server = createServer((incoming, response) => response.end(`${incoming.method} ${incoming.headers.host} ${incoming.url}`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
    return (server.address() as AddressInfo).port;
  }

  test("there is none", async () => {
    const port = await serve();
    expect((await run(fetchIn(`http://127.0.0.1:${port}/`))).stdout.text).toBe("failed ECONNREFUSED\n");
    expect((await run("cat /proc/net/dev | grep -c :")).stdout.text).toBe("1\n");
  });

  test("but to hosts that are allowed, through the proxy, by plain HTTP and by a tunnel", async () => {
    const port = await serve();
    const refused: string[] = [];
    const options = { network: { allow: [`localhost:${port}`] }, onRefusedHost: (host: string) => refused.push(host) };
    const viaProxy = (url: string): string[] => ["env", "NO_PROXY=", "no_proxy=", ...fetchIn(url)];
    for (const get of [viaProxy, getIn])
      expect((await run(get(`http://localhost:${port}/a?b`), "write", options)).stdout.text.trim()).toBe(`200 GET localhost:${port} /a?b`);
    const tunnelled = `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT localhost:${port} HTTP/1.1\\r\\n\\r\\n' >&3; read -r a <&3; read -r b <&3; printf 'GET /t HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n' >&3; echo "$a"; cat <&3 | tail -n 1`;
    expect((await run(["bash", "-c", tunnelled], "write", options)).stdout.text).toMatch(/^HTTP\/1.1 200 [^]*GET x \/t/);
    expect((await run(getIn("http://example.org/"), "write", options)).stdout.text).toMatch(/^403 .*not among the hosts/);
    expect(refused).toEqual(["example.org"]);
    expect(await run("exit 7", "write", options)).toMatchObject({ exitCode: 7 });
    expect(await run("kill -SEGV $$", "write", options)).toMatchObject({ signal: "SIGSEGV" });
  });

  test("a command has hosts of its own beside those that are configured, and of the public internet only", async () => {
    const port = await serve();
    const sandbox = createSandbox({ workspace, policy: "required", network: { allow: [`localhost:${port}`], deny: ["*.evil.net"] } });
    const asked = async (url: string, hosts: string[]) =>
      (await runProcess({ command: getIn(url), cwd: workspace, enclosure: await sandbox.enclosure({ access: "write", hosts }) })).stdout.text;
    expect(await asked(`http://localhost:${port}/`, ["example.org"])).toContain("200 GET");
    expect(await asked(`http://127.0.0.1:${port}/`, [`127.0.0.1:${port}`])).toMatch(/^403 .*no address of the public internet/);
    expect(await asked("http://a.evil.net/", ["a.evil.net"])).toMatch(/^403 .*not among the hosts/);
    // Lets it through, to where there is nothing.
    expect(await asked("http://forge-test.invalid/", ["forge-test.invalid"])).toMatch(/^502/);
    expect(await asked("http://forge-test.invalid/", [])).toMatch(/^403 .*not among the hosts/);
    await sandbox.close();
  });

  test("a command's own servers are its own", async () => {
    const script = `const s = require("http").createServer((q, r) => r.end("own")); s.listen(0, "127.0.0.1", () => fetch("http://localhost:" + s.address().port).then(async (r) => { console.log(await r.text()); s.close(); }))`;
    const options = { network: { allow: ["example.org"] } };
    for (const some of [{}, options]) expect((await run([process.execPath, "-e", script], "write", some)).stdout.text).toBe("own\n");
  });

  test("a pattern of many hosts leads to no private address, and what only reads has no network", async () => {
    const port = await serve();
    const options = { network: { allow: [`*:${port}`] } };
    expect((await run(getIn(`http://localhost:${port}/`), "write", options)).stdout.text).toMatch(/^403 .*no address of the public internet/);
    expect((await run(getIn(`http://127.0.0.1:${port}/`), "write", options)).stdout.text).toMatch(/^403 .*no address of the public internet/);
    expect((await run(fetchIn(`http://localhost:${port}/`), "read", options)).stdout.text).toBe("failed ECONNREFUSED\n");
  });

  test("caches of package managers stay between commands", async () => {
    const data = join(workspace, ".forge/data");
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "token"), "s3cret");
    const options = { cacheDirectory: join(data, "caches"), hidden: [data] };
    expect((await run('echo kept > "$npm_config_cache.x" && echo kept > "$XDG_CACHE_HOME/y"', "write", options)).exitCode).toBe(0);
    const script = 'cat "$XDG_CACHE_HOME/y"; cat "$XDG_CACHE_HOME/../token"; ls "$XDG_CACHE_HOME/.."';
    expect((await run(script, "write", options)).stdout.text).toBe("kept\ncaches\n");
  });
});

test("what was prepared is made anew where somebody took it away", async () => {
  const sandbox = createSandbox({ workspace, policy: "required" });
  const ownDirectory = async (): Promise<string> => {
    const wrapped = await sandbox.wrap(["true"]);
    return join(wrapped.find((word) => word.endsWith("/gitconfig") && !word.startsWith("/run")) as string, "..");
  };
  const before = await ownDirectory();
  rmSync(before, { recursive: true });
  expect(await runProcess({ command: "true", cwd: workspace, enclosure: await sandbox.enclosure({ access: "write" }) })).toMatchObject({ exitCode: 0 });
  const after = await ownDirectory();
  expect(after).not.toBe(before);
  await sandbox.close();
  expect(existsSync(after)).toBe(false);
});

test("an argument vector does the same by itself", async () => {
  const sandbox = createSandbox({ workspace, policy: "required" });
  const command = await sandbox.wrap(["sh", "-c", "grep Seccomp: /proc/self/status; echo x > a; echo x > ../b; unshare -U true || echo held; echo $TMPDIR"]);
  const { stdout } = await runProcess({ command, cwd: workspace });
  await sandbox.close();
  expect(stdout.text).toBe("Seccomp:\t2\nheld\n/tmp\n");
  expect([readdirSync(workspace), readdirSync(base)]).toEqual([["a"], ["work"]]);
});

describe("where it does not work", () => {
  const features = { disableUserNamespaces: false, seccomp: true };

  test.each(["partial", "none"] as const)("%s: what requires it refuses to run anything", async (level) => {
    const sandbox = createSandbox({ workspace, policy: "required", probe: async () => ({ level, missing: ["a network of its own"], features }) });
    for (const attempt of [sandbox.enclosure({ access: "write" }), sandbox.wrap(["true"])])
      await expect(attempt).rejects.toMatchObject({ reason: "SANDBOX_UNAVAILABLE", message: expect.stringContaining("a network of its own") });
  });

  test("what prefers it runs in as much as there is, or without", async () => {
    const none = createSandbox({ workspace, probe: async () => ({ level: "none", missing: ["bwrap"], features }) });
    expect(await none.enclosure({ access: "write" })).toBeUndefined();
    expect(await none.wrap(["true"])).toEqual(["true"]);
    const partial = createSandbox({ workspace, probe: async () => ({ level: "partial", missing: ["x"], features }) });
    const { stdout } = await runProcess({ command: "unshare -U true || echo held", cwd: workspace, enclosure: await partial.enclosure({ access: "read" }) });
    expect(stdout.text).toBe("held\n");
    await partial.close();
  });
});

test("a policy of off uses none", async () => {
  expect(await createSandbox({ workspace, policy: "off" }).enclosure({ access: "read" })).toBeUndefined();
});
