import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { openProject } from "@forge/workflow/project";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { collectFiles } from "./collect-files.ts";
import { unpackBundle } from "./unpack-bundle.ts";
import { writeBundle } from "./write-bundle.ts";

const FILES: Readonly<Record<string, string>> = {
  "runtime.yaml": "default_workflow: a\n",
  "workflows/a.yaml": "a",
  "workflows/deep/b.yaml": "b",
  "agents/x.yaml": "x",
  "functions/f.ts": "f",
  "functions/__pycache__/f.pyc": "no",
  "functions/.env": "KEY=1",
  "functions/prod.env": "KEY=1",
  "functions/server.pem": "no",
  "functions/id_rsa": "no",
  "functions/credentials.json": "{}",
  "functions/my-secrets.yaml": "no",
  "functions/innocent.txt": "-----BEGIN RSA PRIVATE KEY-----\nabc\n",
  "functions/tokens.ts": "export const tokens = 1;",
  "tools/t.py": "t",
  "tools/node_modules/x/index.js": "no",
  "prompts/p.md": "p",
  ".env": "KEY=1",
  ".forge/data/token": "secret",
  "notes.txt": "not asked for",
};

let root: string;
beforeEach(async () => {
  root = path.join(await mkdtemp(path.join(tmpdir(), "forge-export-")), "project");
  for (const [name, text] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
});
afterEach(() => rm(path.dirname(root), { recursive: true, force: true }));

describe("what is exported of a project", () => {
  it("is its files, without secrets, data and what is made, and tells what it leaves out", async () => {
    await symlink("/etc/passwd", path.join(root, "agents/link.yaml"));
    const { files, leftOut } = await collectFiles(await openProject(root, {}));
    expect(files.map((file) => file.path)).toEqual([
      "agents/x.yaml",
      "functions/f.ts",
      "functions/tokens.ts",
      "prompts/p.md",
      "runtime.yaml",
      "tools/t.py",
      "workflows/a.yaml",
      "workflows/deep/b.yaml",
    ]);
    expect(Object.fromEntries(leftOut.map((each) => [each.path, each.why]))).toEqual({
      "agents/link.yaml": "is a link",
      "functions/.env": "may hold secrets",
      "functions/prod.env": "may hold secrets",
      "functions/__pycache__": "is made when the project runs or is built",
      "functions/credentials.json": "looks like a key or a credential",
      "functions/id_rsa": "looks like a key or a credential",
      "functions/innocent.txt": "holds a private key",
      "functions/my-secrets.yaml": "looks like a key or a credential",
      "functions/server.pem": "looks like a key or a credential",
      "tools/node_modules": "is made when the project runs or is built",
    });
  });

  it("has no data directory, wherever the configuration puts it, and nothing outside of the project", async () => {
    await writeFile(path.join(root, "runtime.yaml"), "db_path: functions/store\ntools_dir: ../elsewhere\n");
    await mkdir(path.join(root, "functions/store"));
    await writeFile(path.join(root, "functions/store/token"), "secret");
    await mkdir(path.join(root, "../elsewhere"));
    await writeFile(path.join(root, "../elsewhere/t.py"), "t");
    const { files, leftOut } = await collectFiles(await openProject(root, {}));
    expect(files.map((file) => file.path)).not.toContain("functions/store/token");
    expect(files.some((file) => file.path.includes("t.py"))).toBe(false);
    expect(leftOut).toContainEqual({ path: "functions/store", why: "holds the project's data" });
    expect(leftOut).toContainEqual({ path: path.join(root, "../elsewhere"), why: "lies outside of the project" });
  });

  it.each([
    ["db_path: postgres://u:secret@db/x", "runtime.yaml:1 has a password"],
    ["llm:\n  providers:\n    anthropic:\n      api_key: sk-123", "runtime.yaml:4 has the value of api_key"],
  ])("is refused while the configuration has a secret in plain text: %s", async (text, message) => {
    await writeFile(path.join(root, "runtime.yaml"), text);
    await expect(collectFiles(await openProject(root, {}))).rejects.toMatchObject({
      reason: "BUNDLE_SECRET",
      message: expect.stringContaining(message) as string,
    });
  });

  it("may name variables for secrets", async () => {
    await writeFile(
      path.join(root, "runtime.yaml"),
      "llm:\n  providers:\n    openai:\n      api_key_env: OPENAI_API_KEY\n    anthropic:\n      api_key: ${ANTHROPIC_API_KEY}\n",
    );
    vi.stubEnv("ANTHROPIC_API_KEY", "sk-1");
    try {
      expect((await collectFiles(await openProject(root, {}))).files.map((file) => file.path)).toContain("runtime.yaml");
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("has the same bytes whenever it is packed, and gives the same files back", async () => {
    const pack = async (): Promise<Buffer> => writeBundle((await collectFiles(await openProject(root, {}))).files);
    const first = await pack();
    await utimes(path.join(root, "workflows/a.yaml"), new Date(0), new Date(86_400_000));
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2031-05-06") });
    expect((await pack()).equals(first)).toBe(true);
    vi.useRealTimers();
    const again = path.join(path.dirname(root), "again");
    await unpackBundle(Readable.from([first]), again, { replaces: false });
    expect(await readFile(path.join(again, "workflows/deep/b.yaml"), "utf8")).toBe("b");
    const second = await writeBundle((await collectFiles(await openProject(again, {}))).files);
    expect(second.equals(first)).toBe(true);
  });
});
