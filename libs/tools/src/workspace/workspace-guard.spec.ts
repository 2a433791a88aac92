import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WorkspaceGuard } from "./workspace-guard.ts";

let base: string;
let workspace: string;
let guard: WorkspaceGuard;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "forge-guard-")));
  workspace = join(base, "work");
  mkdirSync(join(workspace, "src"), { recursive: true });
  mkdirSync(join(base, "work-other"));
  writeFileSync(join(base, "secret.txt"), "secret");
  writeFileSync(join(base, "work-other", "secret.txt"), "secret");
  writeFileSync(join(workspace, "src", "a.txt"), "inside");
  guard = new WorkspaceGuard(workspace);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

async function codeOf(action: Promise<unknown>): Promise<ErrorCode | undefined> {
  const error: unknown = await action.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof ForgeError ? error.code : undefined;
}

async function read(path: string): Promise<string> {
  const handle = await guard.openFile(path);
  try {
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

test("a workspace that is missing is refused", () => {
  expect(() => new WorkspaceGuard(join(base, "nowhere"))).toThrow("can't be opened");
});

describe("what is inside", () => {
  test.each(["src/a.txt", "./src/../src/a.txt", "src//a.txt"])("%s is opened", async (path) => {
    expect(await read(path)).toBe("inside");
  });

  test("an absolute path is opened, also by the name of a link to the workspace", async () => {
    expect(await read(join(workspace, "src/a.txt"))).toBe("inside");
    symlinkSync(workspace, join(base, "alias"));
    guard = new WorkspaceGuard(join(base, "alias"));
    expect(await read(join(base, "alias", "src/a.txt"))).toBe("inside");
    expect(await read(join(workspace, "src/a.txt"))).toBe("inside");
  });

  test("a link that stays inside is followed", async () => {
    symlinkSync("src", join(workspace, "link"));
    expect(await read("link/a.txt")).toBe("inside");
  });

  test("a name that begins with two dots is a name", async () => {
    writeFileSync(join(workspace, "..name"), "dots");
    expect(await read("..name")).toBe("dots");
  });
});

describe("what is refused as a violation", () => {
  test.each(["..", "../secret.txt", "src/../../secret.txt", "/etc/passwd", "../work-other/secret.txt", "src/../../work-other/secret.txt"])(
    "%s",
    async (path) => {
      expect(await codeOf(guard.openFile(path))).toBe(ErrorCode.SANDBOX_VIOLATION);
    },
  );

  test("a sibling by its absolute path, whose name begins like the workspace's", async () => {
    expect(await codeOf(guard.openFile(join(base, "work-other", "secret.txt")))).toBe(ErrorCode.SANDBOX_VIOLATION);
  });

  test.each([
    ["a file outside", "../secret.txt"],
    ["a directory outside", ".."],
    ["nothing", "../missing"],
    ["nothing inside", "missing"],
    ["itself", "link"],
  ])("a link to %s", async (_, target) => {
    symlinkSync(target, join(workspace, "link"));
    expect(await codeOf(guard.openFile("link"))).toBe(ErrorCode.SANDBOX_VIOLATION);
    expect(await codeOf(guard.openFile("link/secret.txt"))).toBe(ErrorCode.SANDBOX_VIOLATION);
  });

  test("a data directory that has another name, which is marked", async () => {
    mkdirSync(join(workspace, "store", "pg"), { recursive: true });
    writeFileSync(join(workspace, "store", ".forge-data"), "");
    for (const path of ["store", "store/token", "store/pg/1", "store/.forge-data"])
      expect(await codeOf(guard.openFile(path))).toBe(ErrorCode.SANDBOX_VIOLATION);
    expect(guard.isProtected(join(workspace, "stores"))).toBe(false);
  });

  test.each([".git/config", ".GIT/config", "src/.git/HEAD", ".git", ".forge/data/x", ".forge/data"])("%s, which is protected", async (path) => {
    mkdirSync(join(workspace, ".git"));
    mkdirSync(join(workspace, ".forge", "data"), { recursive: true });
    expect(await codeOf(guard.openFile(path))).toBe(ErrorCode.SANDBOX_VIOLATION);
    expect(await codeOf(guard.openDirectory(path, { create: true }))).toBe(ErrorCode.SANDBOX_VIOLATION);
  });

  test("a link to what is protected", async () => {
    mkdirSync(join(workspace, ".git"));
    symlinkSync(".git", join(workspace, "link"));
    expect(await codeOf(guard.openFile("link/config"))).toBe(ErrorCode.SANDBOX_VIOLATION);
  });

  test("a pipe, without waiting for its other end", async () => {
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    expect(await codeOf(guard.openFile("pipe"))).toBe(ErrorCode.SANDBOX_VIOLATION);
  });
});

test.each(["", "a\0b", "x".repeat(5_000)])("a malformed path is a validation error", async (path) => {
  expect(await codeOf(guard.openFile(path))).toBe(ErrorCode.VALIDATION);
});

test("what does not exist is not found, and the error does not tell this machine's paths", async () => {
  await expect(guard.openFile("src/missing.txt")).rejects.toThrow(/^src\/missing\.txt does not exist$/);
});

describe.runIf(process.platform === "linux")("a link that is swapped in after the check", () => {
  /** A guard whose check is over when the swap happens. */
  async function afterCheck(path: string, swap: () => void): Promise<string> {
    const real = await guard.resolve(path);
    swap();
    return real;
  }

  test("is caught in place of the file", async () => {
    const real = await afterCheck("src/a.txt", () => {
      rmSync(join(workspace, "src/a.txt"));
      symlinkSync(join(base, "secret.txt"), join(workspace, "src/a.txt"));
    });
    expect(await codeOf(guard.openRegularFile(real, "src/a.txt", 0))).toBe(ErrorCode.SANDBOX_VIOLATION);
  });

  test("is caught in place of a directory above the file", async () => {
    writeFileSync(join(workspace, "src", "secret.txt"), "inside");
    const real = await afterCheck("src/secret.txt", () => {
      rmSync(join(workspace, "src"), { recursive: true });
      symlinkSync(base, join(workspace, "src"));
    });
    expect(await codeOf(guard.openRegularFile(real, "src/secret.txt", 0))).toBe(ErrorCode.SANDBOX_VIOLATION);
  });

  test("does not redirect what is written into an open directory", async () => {
    await using directory = await guard.openDirectory("src", { create: false });
    execFileSync("mv", [join(workspace, "src"), join(workspace, "moved")]);
    symlinkSync(base, join(workspace, "src"));
    const handle = await guard.openRegularFile(directory.at("new.txt"), "src/new.txt", 0o101);
    await handle.writeFile("new");
    await handle.close();
    expect(await read("moved/new.txt")).toBe("new");
  });

  test("is caught where the open directory itself was moved out", async () => {
    await using directory = await guard.openDirectory("src", { create: false });
    execFileSync("mv", [join(workspace, "src"), join(base, "moved")]);
    expect(await codeOf(guard.openRegularFile(directory.at("a.txt"), "src/a.txt", 0))).toBe(ErrorCode.SANDBOX_VIOLATION);
  });
});
