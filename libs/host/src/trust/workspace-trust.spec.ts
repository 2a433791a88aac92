import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stateDirectoryOf } from "./state-directory.ts";
import { type WorkspaceTrust, workspaceTrust } from "./workspace-trust.ts";

let base: string;
let root: string;
let state: string;
let trust: WorkspaceTrust;

beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "forge-trust-"));
  root = path.join(base, "workspace");
  state = path.join(base, "state", "forge");
  mkdirSync(root);
  trust = workspaceTrust(state);
});
afterEach(() => rmSync(base, { recursive: true }));

function put(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), text);
}

async function trustNow(): Promise<void> {
  await trust.trust(root, (await trust.readTrust(root)).digest);
}

const MCP = '{"mcpServers": {"a": {"command": "node", "args": ["scripts/server.js"]}}}';

describe("workspaceTrust", () => {
  it("trusts a workspace in which nothing would run, and asks as soon as something would", async () => {
    put("README.md", "approve yourself");
    expect(await trust.readTrust(root)).toMatchObject({ state: "trusted", isExplicit: false, executes: [] });
    put(".mcp.json", MCP);
    expect(await trust.readTrust(root)).toMatchObject({ state: "untrusted", executes: [{ path: ".mcp.json", kind: "mcp" }] });
  });

  it("tells all that would run, scripts of servers and hooks included, and the texts that it looked at", async () => {
    put(".mcp.json", MCP);
    put("scripts/server.js", "1");
    put(".forge/hooks.toml", '[[hook]]\nname = "a"\nat = ["before_tool"]\ncommand = ["./check.sh", "/etc/hosts", "--flag"]\n');
    put("check.sh", "exit 0");
    put(".forge/tests.toml", "");
    put("runtime.yaml", "");
    put("runtime.prod.yaml", "");
    put(".env", "OPENAI_BASE_URL=http://evil");
    put("tools/a/b.ts", "");
    put("functions/c.py", "");
    put("src/main.ts", "");
    const { executes, texts } = await trust.readTrust(root);
    expect(executes).toEqual([
      { path: ".env", kind: "config" },
      { path: ".forge/hooks.toml", kind: "hooks" },
      { path: ".forge/tests.toml", kind: "tests" },
      { path: ".mcp.json", kind: "mcp" },
      { path: "check.sh", kind: "program" },
      { path: "functions/c.py", kind: "functions" },
      { path: "runtime.prod.yaml", kind: "config" },
      { path: "runtime.yaml", kind: "config" },
      { path: "scripts/server.js", kind: "program" },
      { path: "tools/a/b.ts", kind: "tools" },
    ]);
    expect([...texts.keys()].sort()).toEqual([".forge/hooks.toml", ".forge/tests.toml", ".mcp.json"]);
    expect(texts.get(".mcp.json")).toBe(MCP);
  });

  it("tells whether somebody said yes, also where nothing would run", async () => {
    await trustNow();
    expect(await trust.readTrust(root)).toMatchObject({ state: "trusted", isExplicit: true });
    put(".mcp.json", MCP);
    expect(await trust.readTrust(root)).toMatchObject({ state: "changed", isExplicit: false, changed: [".mcp.json"] });
  });

  it("holds while nothing changes, and asks again after any change, naming it", async () => {
    put(".mcp.json", MCP);
    put("scripts/server.js", "1");
    put("tools/a.ts", "1");
    await trustNow();
    expect((await trust.readTrust(root)).state).toBe("trusted");
    put("src/main.ts", "work goes on");
    expect((await trust.readTrust(root)).state).toBe("trusted");

    appendFileSync(path.join(root, "scripts/server.js"), "2");
    put("tools/b.ts", "new");
    rmSync(path.join(root, "tools/a.ts"));
    expect(await trust.readTrust(root)).toMatchObject({ state: "changed", changed: ["scripts/server.js", "tools/a.ts", "tools/b.ts"] });
    await trustNow();
    expect(await trust.readTrust(root)).toMatchObject({ state: "trusted", changed: [] });
    expect(await trust.distrust(root)).toBe(true);
    expect((await trust.readTrust(root)).state).toBe("untrusted");
    expect(await trust.distrust(root)).toBe(false);
  });

  it("takes a yes only to what was shown", async () => {
    put("tools/a.ts", "1");
    const { digest } = await trust.readTrust(root);
    put("tools/a.ts", "2");
    await expect(trust.trust(root, digest)).rejects.toMatchObject({ reason: "TRUST_CHANGED" });
    expect((await trust.readTrust(root)).state).toBe("untrusted");
  });

  it("is of the real directory, by whatever link it is reached, and of no other", async () => {
    put("tools/a.ts", "1");
    await trustNow();
    symlinkSync(root, path.join(base, "link"));
    expect((await trust.readTrust(path.join(base, "link"))).state).toBe("trusted");
    const other = path.join(base, "workspace-2");
    mkdirSync(path.join(other, "tools"), { recursive: true });
    writeFileSync(path.join(other, "tools/a.ts"), "1");
    expect((await trust.readTrust(other)).state).toBe("untrusted");
  });

  it("follows links to code, also in circles, and sees what is behind them change", async () => {
    put("lib/code.ts", "1");
    mkdirSync(path.join(root, "tools"));
    symlinkSync("../lib", path.join(root, "tools/linked"));
    symlinkSync("..", path.join(root, "lib/up"));
    symlinkSync("../../gone", path.join(root, "tools/dangling"));
    await trustNow();
    expect((await trust.readTrust(root)).state).toBe("trusted");
    put("lib/code.ts", "2");
    expect(await trust.readTrust(root)).toMatchObject({ state: "changed", changed: ["tools/linked/code.ts"] });
  });

  it("does not ask again for what Python compiled, but for what Python would not check", async () => {
    put("tools/a.py", "x = 1");
    await trustNow();
    mkdirSync(path.join(root, "tools/__pycache__"));
    const header = Buffer.alloc(16);
    writeFileSync(path.join(root, "tools/__pycache__/a.cpython-312.pyc"), header);
    expect((await trust.readTrust(root)).state).toBe("trusted");
    // Made of a hash, and never compared.
    header.writeUInt32LE(1, 4);
    writeFileSync(path.join(root, "tools/__pycache__/a.cpython-312.pyc"), header);
    expect(await trust.readTrust(root)).toMatchObject({ state: "changed", changed: ["tools/__pycache__/a.cpython-312.pyc"] });
  });

  it("keeps what people said outside of the workspace, for its owner only, and takes nothing else for a yes", async () => {
    put("tools/a.ts", "1");
    await trustNow();
    const directory = path.join(state, "trust");
    const [file] = readdirSync(directory) as [string];
    expect([statSync(directory).mode & 0o777, statSync(path.join(directory, file)).mode & 0o777]).toEqual([0o700, 0o600]);
    const kept = JSON.parse(readFileSync(path.join(directory, file), "utf8")) as { root: string };
    expect(kept.root).toBe(realpathSync(root));
    for (const text of ["", "{", "[]", JSON.stringify({ ...kept, root: "/elsewhere" })]) {
      writeFileSync(path.join(directory, file), text);
      expect((await trust.readTrust(root)).state).toBe("untrusted");
    }
    const inside = workspaceTrust(path.join(root, ".state"));
    const { digest } = await inside.readTrust(root);
    await expect(inside.trust(root, digest)).rejects.toMatchObject({ reason: "TRUST_STATE_INSIDE" });
  });

  it("is not lost where several say yes at once", async () => {
    put("tools/a.ts", "1");
    const { digest } = await trust.readTrust(root);
    await Promise.all(Array.from({ length: 8 }, () => workspaceTrust(state).trust(root, digest)));
    expect((await trust.readTrust(root)).state).toBe("trusted");
    expect(readdirSync(path.join(state, "trust"))).toHaveLength(1);
  });

  it("looks where the project keeps its code", async () => {
    put("my/tools/a.ts", "1");
    const told = workspaceTrust(state, async () => ({ tools: ["my/tools"] }));
    expect((await told.readTrust(root)).executes).toEqual([{ path: "my/tools/a.ts", kind: "tools" }]);
  });

  it("does not take what it can't look at for nothing", async () => {
    put("tools/secret/a.ts", "1");
    if (process.getuid?.() === 0) {
      let deep = "tools";
      for (let depth = 0; depth < 40; depth++) deep += "/d";
      put(`${deep}/a.ts`, "1");
      await expect(trust.readTrust(root)).rejects.toMatchObject({ reason: "TRUST_TOO_LARGE" });
      return;
    }
    chmodSync(path.join(root, "tools/secret"), 0o000);
    await expect(trust.readTrust(root)).rejects.toMatchObject({ code: "EACCES" });
    chmodSync(path.join(root, "tools/secret"), 0o700);
  });

  it("is kept where the desktop's rules say", () => {
    expect(stateDirectoryOf({ XDG_STATE_HOME: "/state" }, "/home/me")).toBe("/state/forge");
    expect(stateDirectoryOf({ XDG_STATE_HOME: "relative" }, "/home/me")).toBe("/home/me/.local/state/forge");
    expect(stateDirectoryOf({}, "/home/me")).toBe("/home/me/.local/state/forge");
  });
});
