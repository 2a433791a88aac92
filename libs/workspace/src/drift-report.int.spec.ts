import { execFileSync } from "node:child_process";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { captureRevision } from "./capture-revision.ts";
import { driftReport } from "./drift-report.ts";
import { MemoryServer } from "./testing/memory-server.ts";
import { makeTree, temporaryDirectory, text } from "./testing/tree.ts";

describe("the drift of a directory", () => {
  it("is what was added, removed and changed, and in what", async () => {
    await using directory = await temporaryDirectory();
    const at = (name: string): string => join(directory.path, name);
    await makeTree(directory.path, {
      same: text("same"),
      content: text("1234"),
      size: text("1234"),
      mode: text("mode"),
      both: text("1234"),
      target: { link: "same" },
      type: text("type"),
      "turned/x": text("x"),
      "gone/x": text("x"),
      out: "directory",
    });
    const { client } = new MemoryServer();
    const { revisionId } = await captureRevision(client, directory.path);
    const drift = async (exclude: string[] = []) =>
      (await driftReport(client, revisionId, directory.path, { exclude })).entries.map(({ marker, path, differs }) =>
        `${marker} ${path} ${differs.join()}`.trimEnd(),
      );
    expect(await drift()).toEqual([]);

    await writeFile(at("content"), "1235");
    await writeFile(at("size"), "12345");
    await chmod(at("mode"), 0o755);
    await writeFile(at("both"), "1235");
    await chmod(at("both"), 0o755);
    await rm(at("target"));
    await symlink("mode", at("target"));
    await rm(at("type"));
    await mkdir(at("type"));
    await rm(at("turned"), { recursive: true });
    execFileSync("mkfifo", [at("turned")]);
    await rm(at("gone"), { recursive: true });
    await makeTree(directory.path, { "new/x": text("x"), "out/log": text("log"), ".forge/data/x": text("x") });
    await symlink("/etc", at("out/link"));
    expect(await drift()).toEqual([
      "~ both content,mode",
      "~ content content",
      "- gone",
      "- gone/x",
      "~ mode mode",
      "+ new",
      "+ new/x",
      "+ out/link",
      "+ out/log",
      "~ size content",
      "~ target target",
      "~ turned type",
      "- turned/x",
      "~ type type",
    ]);
    expect(await drift(["out", "gone", "new", "turned"])).toEqual([
      "~ both content,mode",
      "~ content content",
      "~ mode mode",
      "~ size content",
      "~ target target",
      "~ type type",
    ]);
  });

  it("of a revision or a directory that is not there is an error", async () => {
    await using directory = await temporaryDirectory();
    const { client } = new MemoryServer();
    await expect(driftReport(client, "0".repeat(64), directory.path)).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
    await expect(driftReport(client, "0".repeat(64), join(directory.path, "missing"))).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
  });
});
