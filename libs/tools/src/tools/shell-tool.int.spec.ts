import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RiskLevel, ToolMode } from "@forge/protocol/tool";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { BackgroundProcesses } from "../process/background-processes.ts";
import { createSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { createSecretSource } from "../secrets/secret-source.ts";
import { eventually, processesWith } from "../testing/processes.ts";
import { callTool, previewOf } from "../testing/tool-calls.ts";
import { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { processesTool } from "./processes-tool.ts";
import { gitReadingEnvironment, hasHarmlessGitConfig } from "./shell-git.ts";
import { readingCommand } from "./shell-reading.ts";
import { type ShellOptions, shellTool } from "./shell-tool.ts";

let base: string;
let workspace: string;
let sandbox: Sandbox;
let background: BackgroundProcesses;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forge-shell-")));
  workspace = join(base, "work");
  mkdirSync(workspace);
  sandbox = createSandbox({ workspace, policy: "required" });
  background = new BackgroundProcesses();
});

afterEach(async () => {
  await background.close();
  await sandbox.close();
  rmSync(base, { recursive: true, force: true });
});

const shell = (options: Partial<ShellOptions> = {}) => shellTool(new WorkspaceGuard(workspace), { sandbox, background, ...options });
const preview = (command: string, cwd?: string, options: Partial<ShellOptions> = {}) =>
  previewOf(shell(options), cwd === undefined ? { command } : { command, cwd });
const write = (path: string, text: string, mode = 0o644): void => {
  mkdirSync(join(workspace, path, ".."), { recursive: true });
  writeFileSync(join(workspace, path), text);
  chmodSync(join(workspace, path), mode);
};
const git = (...parameters: string[]) => execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...parameters], { cwd: workspace });
const repository = (): void => {
  git("init", "--quiet");
  write("a", "x\n");
  git("add", ".");
  git("commit", "--quiet", "--message=first");
};

describe("a rule can be made", () => {
  test("of a command of literal words, and stands for exactly it", async () => {
    write("x.js", "1");
    mkdirSync(join(workspace, "sub"));
    const { ruleKey, ruleTitle, title, risk } = await preview("git add  'a b'");
    expect({ ruleTitle, title, risk }).toEqual({ ruleTitle: "git add a b in .", title: "run git add  'a b'", risk: RiskLevel.UNSPECIFIED });
    expect(ruleKey).toMatch(/^shell:[0-9a-f]{64}$/);
    expect((await preview('git add "a b"')).ruleKey).toBe(ruleKey);
    for (const [command, cwd] of [["git add a b"], ["git add 'a b' c"], ["git rm 'a b'"], ["git add 'a b'", "sub"]] as const) {
      const other = (await preview(command, cwd)).ruleKey;
      expect(other, command).not.toBe("");
      expect(other, command).not.toBe(ruleKey);
    }
  });

  test.each([
    "git add a && x",
    "git add a\nx",
    "git add $(x)",
    "git add `x`",
    "git add a > b",
    "git add a 2>&1",
    "X=1 git add a",
    "git add *",
    "git add a; x",
    "git add a | x",
    "git add a &",
    "alias git=x; git add a",
    "cd sub",
    "eval 'git add a'",
    "env git add a",
    "sh -c 'x' && y",
    "git -c core.fsmonitor=x add a",
    "git --exec-path=x add a",
    "xargs rm",
    "sudo ls",
    "nonexistent-program a",
    "npx x",
    "npm --prefix sub test",
    "npm exec x",
    "pnpm -C sub test",
    "sh -c ./x.sh",
    "node -e 1",
    "python3 -c 1",
    "uv run x.py",
    "just build",
    "find . -delete",
    "timeout 5 git add a",
    "make -C x",
    "export X=1",
    "exec git add a",
    ". ./x",
    "node sub",
    "node script",
    "node --require=./x.js y.js",
    "node --test",
    "python3 -mfoo",
    "python3 -m pytest",
    "make -fbuild.mk",
    "make SHELL=./x.sh",
    "perl -e'do 1'",
    "sed '1e ./x.sh' f",
    "awk 'BEGIN{system(1)}'",
    "tar --checkpoint-action=exec=./x.sh --checkpoint=1 -cf a.tar d",
    "vim -c '!./x.sh'",
    "git rebase --exec ./x.sh main",
    "git submodule foreach ./x.sh",
    "git bisect run ./x.sh",
    "git difftool -x ./x.sh",
    "git grep -O./x.sh x",
    "git merge -s ours x",
    "git fetch --upload-pack=./x.sh origin",
    "npm --node-options=--require=./x.js test",
    "rg --pre ./x.sh x",
    "sort --compress-program=./x.sh f",
  ])("not of %j, and it says where it runs all the same", async (command) => {
    mkdirSync(join(workspace, "sub"));
    repository();
    const { ruleKey, title, factsJson, risk } = await preview(command);
    expect(ruleKey).toBe("");
    expect(risk).toBe(RiskLevel.UNSPECIFIED);
    expect(title).toContain("run ");
    expect(JSON.parse(factsJson)).toMatchObject({ cwd: "." });
  });

  test("that is another when a script of the workspace that it runs has changed", async () => {
    write("x.sh", "#!/bin/sh\necho 1\n", 0o755);
    write("x.js", "1");
    write("package.json", '{ "scripts": { "test": "echo 1" } }');
    write("Makefile", "all:\n\techo 1\n");
    repository();
    const commands = ["./x.sh", "sh x.sh", "node x.js", "npm run test -- --watch", "npm run test", "npm test", "make all", "git commit -m x"];
    const before = await Promise.all(commands.map((command) => preview(command)));
    for (const { ruleKey } of before) expect(ruleKey).not.toBe("");
    expect((await Promise.all(commands.map((command) => preview(command)))).map(({ ruleKey }) => ruleKey)).toEqual(before.map(({ ruleKey }) => ruleKey));
    write("x.sh", "#!/bin/sh\necho 2\n", 0o755);
    write("x.js", "2");
    write("package.json", '{ "scripts": { "test": "echo 2" } }');
    write("Makefile", "all:\n\techo 2\n");
    write(".git/hooks/pre-commit", "#!/bin/sh\n", 0o755);
    for (const [index, command] of commands.entries()) {
      const now = await preview(command);
      expect(now.ruleKey, command).not.toBe(before[index]?.ruleKey);
      expect(now.factsJson, command).not.toBe(before[index]?.factsJson);
    }
  });

  test("that is another when the PATH leads to another program, or the program was swapped", async () => {
    const path = `${join(workspace, "bin")}:${process.env.PATH}`;
    const options = { environment: { PATH: path } };
    const before = await preview("git add a", undefined, options);
    write("bin/git", "#!/bin/sh\necho 1\n", 0o755);
    const shadowed = await preview("git add a", undefined, options);
    write("bin/git", "#!/bin/sh\necho 2\n", 0o755);
    const swapped = await preview("git add a", undefined, options);
    const keys = [before, shadowed, swapped].map(({ ruleKey }) => ruleKey);
    expect(new Set(keys).size).toBe(3);
    expect(keys).not.toContain("");
  });
});

describe("what was shown is what is run", () => {
  test.each([
    ["a script", "node x.js", () => write("x.js", "process.stdout.write('evil')")],
    ["the program", "./tool", () => write("tool", "#!/bin/sh\necho evil\n", 0o755)],
    [
      "the directory",
      "node x.js",
      () => {
        rmSync(join(workspace, "sub"), { recursive: true });
        symlinkSync(".", join(workspace, "sub"));
      },
      "sub",
    ],
  ])("%s that changed in between is noticed, and nothing is run", async (_what, command, change, cwd?: string) => {
    write("x.js", "process.stdout.write('good')");
    write("sub/x.js", "process.stdout.write('good')");
    write("tool", "#!/bin/sh\necho good\n", 0o755);
    const args = cwd === undefined ? { command } : { command, cwd };
    const previewed = await previewOf(shell(), args);
    expect((await callTool(shell(), args, { previewed })).stdout).toMatch(/good/);
    change();
    await expect(callTool(shell(), args, { previewed })).rejects.toMatchObject({ reason: "PREVIEW_STALE" });
  });
});

describe("a command that is known to only read", () => {
  test.each([
    "git status",
    "git log --oneline",
    "git diff",
    "git show HEAD",
    "ls -la",
    "cat a",
    "head -n 1 a",
    "wc -l a",
    "pwd",
    "grep x a",
    "echo hi",
    "find . -name a -not -path ./.git",
  ])("%s is told as such, and does what it says", async (command) => {
    repository();
    const previewed = await preview(command);
    expect(previewed.risk).toBe(RiskLevel.READ);
    const result = await callTool(shell(), { command }, { previewed, mode: ToolMode.PLAN });
    expect(result).toMatchObject({ exit_code: 0 });
    const expected = execFileSync("sh", ["-c", command], { cwd: workspace, encoding: "utf8", env: { PATH: process.env.PATH } });
    if (!command.startsWith("ls")) expect(result.stdout).toBe(expected);
  });

  test.each([
    "cat /etc/passwd",
    "cat ../x",
    "cat link",
    "ls ~",
    "cat .git/config",
    "cat pipe",
    "git diff /etc/passwd a",
    "grep x sub",
    "cat .env",
    "head -n 1 link/passwd",
  ])("%s is not", async (command) => {
    repository();
    symlinkSync("/etc", join(workspace, "link"));
    mkdirSync(join(workspace, "sub"));
    write(".env", "KEY=x");
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    expect((await preview(command)).risk).toBe(RiskLevel.UNSPECIFIED);
  });

  test("is none when the program is the workspace's", async () => {
    repository();
    write("bin/git", "#!/bin/sh\ntouch evil\n", 0o755);
    write("bin/cat", "#!/bin/sh\ntouch evil\n", 0o755);
    const options = { environment: { PATH: `${join(workspace, "bin")}:${process.env.PATH}` } };
    for (const command of ["git status", "cat a", "./bin/cat a"])
      expect((await preview(command, undefined, options)).risk, command).toBe(RiskLevel.UNSPECIFIED);
    symlinkSync("/bin/cat", join(workspace, "bin/head"));
    expect((await preview("head a", undefined, options)).risk).toBe(RiskLevel.UNSPECIFIED);
    expect(existsSync(join(workspace, "evil"))).toBe(false);
  });

  const settings: [string, string][] = [
    ["core.fsmonitor", "touch $MARK; false"],
    ["core.pager", "touch $MARK; cat"],
    ["diff.external", "touch $MARK; true"],
    ["diff.evil.textconv", "touch $MARK; cat"],
    ["diff.evil.command", "touch $MARK; true"],
    ["filter.evil.clean", "touch $MARK; cat"],
    ["filter.evil.process", "touch $MARK"],
    ["gpg.program", "touch $MARK"],
    ["core.hooksPath", "hooks"],
    ["alias.status", "!touch $MARK"],
    ["core.worktree", "/etc"],
    ["include.path", "evil.inc"],
  ];

  test.each(settings)("runs nothing that the repository sets as %s", async (key, value) => {
    repository();
    const mark = join(base, "mark");
    // Without a sandbox, so that nothing but the settings keeps it from running.
    const unboxed = shell({ sandbox: createSandbox({ workspace, policy: "off" }) });
    write(".gitattributes", "a diff=evil filter=evil\n");
    write("evil.inc", `[core]\n\tfsmonitor = touch ${mark}\n`);
    write("hooks/post-index-change", `#!/bin/sh\ntouch ${mark}\n`, 0o755);
    git("config", key, value.replace("$MARK", mark));
    write("a", "changed\n");
    for (const command of ["git status", "git diff", "git log -p", "git show HEAD"]) {
      const told = await previewOf(unboxed, { command });
      expect(told.risk, command).toBe(RiskLevel.UNSPECIFIED);
      expect(existsSync(mark), command).toBe(false);
    }
  });

  test("runs nothing that appears in the repository's settings after it was looked at", async () => {
    repository();
    const mark = join(base, "mark");
    expect(await hasHarmlessGitConfig("/usr/bin/git", workspace, workspace, new AbortController().signal)).toBe(true);
    write(".gitattributes", "a diff=evil\n");
    for (const key of ["core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command", "gpg.program"])
      git("config", key, `touch ${mark}; false`);
    git("config", "log.showSignature", "true");
    rmSync(mark, { force: true });
    write("a", "changed\n");
    for (const command of ["git status", "git diff", "git log -p", "git show HEAD"]) {
      const words = readingCommand(command.split(" "))?.gitWords ?? [];
      execFileSync("/usr/bin/git", [...words], { cwd: workspace, env: { PATH: process.env.PATH, ...gitReadingEnvironment(workspace) } });
      expect(existsSync(mark), command).toBe(false);
    }
  });
});

describe("the network of a command", () => {
  test("is asked for by host, shown, and part of the rule", async () => {
    const [none, one, other] = await Promise.all(
      [undefined, ["registry.npmjs.org"], ["a.example.org", "b.example.org"]].map((network) =>
        previewOf(shell(), { command: "npm ci", ...(network && { network }) }),
      ),
    );
    expect(one?.title).toBe("with the network of registry.npmjs.org: run npm ci");
    expect(one?.ruleTitle).toBe("with the network of registry.npmjs.org: npm ci in .");
    expect(new Set([none?.ruleKey, one?.ruleKey, other?.ruleKey]).size).toBe(3);
    expect((await previewOf(shell(), { command: "cat a", network: ["example.org"] })).risk).toBe(RiskLevel.UNSPECIFIED);
    await expect(previewOf(shell(), { command: "npm ci", network: ["https://example.org/"] })).rejects.toMatchObject({
      detail: { metadata: { field: "arguments.network" } },
    });
  });

  test("is that, and none in plan mode", async () => {
    const command = 'echo "$HTTPS_PROXY"';
    const args = { command: `true; ${command}`, network: ["example.org"] };
    expect((await callTool(shell(), args)).stdout).toBe("http://127.0.0.1:3128\n");
    expect((await callTool(shell(), args, { mode: ToolMode.PLAN })).stdout).toBe("\n");
    expect((await callTool(shell(), { command: args.command })).stdout).toBe("\n");
  });
});

test("a command can't lead git to another configuration when it has ended", async () => {
  repository();
  await callTool(shell(), { command: "echo ../evil > .git/commondir" });
  expect(existsSync(join(workspace, ".git/commondir"))).toBe(false);
  await callTool(shell(), { command: "echo ../evil > .git/commondir", background: true });
  await eventually("its end", () => background.list("session").every(({ status }) => status === "exited"));
  expect(existsSync(join(workspace, ".git/commondir"))).toBe(false);
});

describe("in plan mode", () => {
  test("nothing is written, whatever the command is", async () => {
    const result = await callTool(shell(), { command: "echo x > a; mkdir b; touch c; ls -A" }, { mode: ToolMode.PLAN });
    expect(result.stdout).toBe("");
    expect(result.stderr).toContain("Read-only file system");
  });

  test("a command tells that it is kept from writing, and tells nothing where it is not", async () => {
    const told: string[] = [];
    const unboxed = shell({ sandbox: createSandbox({ workspace, policy: "off" }) });
    const call = (tool: typeof unboxed, command: string, mode: ToolMode) => callTool(tool, { command }, { mode, readsOnly: () => told.push(command) });
    await call(shell(), "echo planned; true", ToolMode.PLAN);
    await call(shell(), "ls", ToolMode.ACT);
    await call(shell(), "echo x > a", ToolMode.ACT);
    await call(unboxed, "ls -A", ToolMode.PLAN);
    expect(told).toEqual(["echo planned; true", "ls"]);
  });
});

describe("secrets", () => {
  test("a key in Forge's environment is not there, and one that is given is taken out of what is printed", async () => {
    process.env.FORGE_TEST_API_KEY = "key-of-the-provider";
    onTestFinished(() => {
      delete process.env.FORGE_TEST_API_KEY;
    });
    const secrets = createSecretSource({ environment: { FORGE_SECRET_TOKEN: "s3cret-t0ken" } });
    const printed: string[] = [];
    const tool = shell({ secrets, environment: { TOKEN: "secret://token" } });
    const command =
      'env; printf %s "$TOKEN" | base64; printf %s "$TOKEN" | head -c 5; sleep 0.05; printf %s "$TOKEN" | tail -c +6; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"';
    const { stdout } = await callTool(tool, { command }, { report: (text) => printed.push(text) });
    expect(stdout).toContain("TOKEN=[secret]");
    for (const text of [stdout, printed.join("")]) {
      for (const secret of ["key-of-the-provider", "s3cret-t0ken", "czNjcmV0LXQwa2Vu"]) expect(text).not.toContain(secret);
    }
  });

  test("one that is missing is named, and nothing is run", async () => {
    const tool = shell({ environment: { TOKEN: "secret://nowhere" } });
    await expect(callTool(tool, { command: "touch a" })).rejects.toMatchObject({ reason: "SECRET_NOT_FOUND" });
    expect(existsSync(join(workspace, "a"))).toBe(false);
  });
});

describe("in the background", () => {
  let length = 820_000 + (process.pid % 1000) * 10;
  /** What keeps it in its sandbox has its words as well, and so is more than one process. */
  const isRunning = async (mark: string): Promise<boolean> => (await processesWith(mark.replace(" ", "\0"))).length > 0;

  test("a command is listed, its output shown, and stopped", async () => {
    const mark = `sleep ${length++}`;
    const processes = processesTool(background);
    const started = await callTool(shell(), { command: `echo ready; setsid ${mark} & ${mark}`, background: true });
    expect(started).toEqual({ id: "p1", status: "running" });
    await eventually("its output", async () => (await callTool(processes, { operation: "output", id: "p1" })).output === "ready\n");
    expect(await callTool(processes, { operation: "list" })).toMatchObject({
      processes: [{ id: "p1", status: "running", belongs_to: "turn", exit_code: null }],
    });
    expect(await callTool(processes, { operation: "stop", id: "p1" })).toMatchObject({ status: "stopped", output: "ready\n" });
    expect(await isRunning(mark)).toBe(false);
    await expect(callTool(processes, { operation: "stop", id: "p9" })).rejects.toMatchObject({ reason: "PROCESS_NOT_FOUND" });
  });

  test("it ends with its turn, unless it was handed to the session, and with that", async () => {
    const [ofTurn, ofSession] = [`sleep ${length++}`, `sleep ${length++}`];
    await callTool(shell(), { command: ofTurn, background: true });
    await callTool(shell(), { command: ofSession, background: true, keep_running: true });
    await eventually("both", async () => (await isRunning(ofTurn)) && (await isRunning(ofSession)));
    const owner = { sessionId: "session", turnId: "next", runId: "", stepId: "" };
    expect(await callTool(processesTool(background), { operation: "list" }, { owner: { ...owner, sessionId: "other" } })).toEqual({ processes: [] });
    expect(await isRunning(ofTurn)).toBe(true);
    const { processes } = await callTool(processesTool(background), { operation: "list" }, { owner });
    expect(processes).toMatchObject([{ status: "stopped" }, { status: "running", belongs_to: "session" }]);
    expect([await isRunning(ofTurn), await isRunning(ofSession)]).toEqual([false, true]);
    await background.sessionEnded("session");
    expect(await isRunning(ofSession)).toBe(false);
  });

  test("one of a run's step outlives the step, and is the run's alone", async () => {
    const mark = `sleep ${length++}`;
    const step = (runId: string, stepId: string) => ({ owner: { sessionId: "", turnId: "", runId, stepId } });
    await callTool(shell(), { command: mark, background: true }, step("run-1", "first"));
    await callTool(shell(), { command: "true" }, step("run-1", "second"));
    expect(await callTool(processesTool(background), { operation: "list" }, step("run-1", "third"))).toMatchObject({ processes: [{ status: "running" }] });
    expect(await callTool(processesTool(background), { operation: "list" }, step("run-2", "first"))).toEqual({ processes: [] });
    await background.sessionEnded("run:run-1");
    expect(await isRunning(mark)).toBe(false);
  });

  test("there are at most eight of a session, and each is another thing to allow than the same in front", async () => {
    const mark = `sleep ${length++}`;
    for (let count = 0; count < 8; count++) await callTool(shell(), { command: mark, background: true });
    await expect(callTool(shell(), { command: mark, background: true })).rejects.toMatchObject({ reason: "TOO_MANY_PROCESSES" });
    const [inFront, behind, kept] = await Promise.all(
      [{}, { background: true }, { background: true, keep_running: true }].map((how) => previewOf(shell(), { command: "cat a", ...how })),
    );
    expect(new Set([inFront?.ruleKey, behind?.ruleKey, kept?.ruleKey]).size).toBe(3);
    expect([inFront?.risk, behind?.risk, kept?.risk]).toEqual([RiskLevel.READ, RiskLevel.UNSPECIFIED, RiskLevel.UNSPECIFIED]);
  });
});
