import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { EntryType, ManifestSchema } from "@forge/protocol/workspace";
import { describe, expect, it } from "vitest";
import { captureRevision } from "./capture-revision.ts";
import type { Progress } from "./progress.ts";
import { restoreRevision } from "./restore-revision.ts";
import { MemoryServer } from "./testing/memory-server.ts";
import { makeTree, readTree, temporaryDirectory, text } from "./testing/tree.ts";

const TREE = {
  "a/b/file": text("content"),
  "a/run": text("run", true),
  "a/link": { link: "b/file" },
  empty: "directory",
  large: { file: Buffer.alloc(700_000, 7) },
} as const;

async function captured(directory: string): Promise<{ readonly server: MemoryServer; readonly revisionId: string }> {
  await makeTree(join(directory, "from"), TREE);
  const server = new MemoryServer();
  return { server, revisionId: (await captureRevision(server.client, join(directory, "from"))).revisionId };
}

describe("restoring a revision", () => {
  it("makes a directory that does not exist, or is empty and keeps its mode, and tells how far it is", async () => {
    await using directory = await temporaryDirectory();
    const { server, revisionId } = await captured(directory.path);
    const told: Progress[] = [];
    const { revisionId: restored } = await restoreRevision(server.client, revisionId, join(directory.path, "new"), {
      onProgress: (progress) => told.push(progress),
    });
    expect(restored).toBe(revisionId);
    expect(told.at(-1)).toEqual({ phase: "getting", files: 3, filesTotal: 3, bytes: 700_010, bytesTotal: 700_010 });
    await mkdir(join(directory.path, "there"));
    await chmod(join(directory.path, "there"), 0o700);
    await restoreRevision(server.client, revisionId, join(directory.path, "there"));
    expect((await lstat(join(directory.path, "there"))).mode & 0o777).toBe(0o700);
    const tree = await readTree(join(directory.path, "from"));
    expect(await readTree(join(directory.path, "new"))).toEqual(tree);
    expect(await readTree(join(directory.path, "there"))).toEqual(tree);
    expect((await readdir(directory.path)).sort()).toEqual(["from", "new", "there"]);
  });

  it("refuses what is not empty, and says what is there", async () => {
    await using directory = await temporaryDirectory();
    const { server, revisionId } = await captured(directory.path);
    const expectRefused = async (name: string, message: RegExp, code: ErrorCode = ErrorCode.CONFLICT) =>
      await expect(restoreRevision(server.client, revisionId, join(directory.path, name))).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
    await expectRefused("from", /it holds "a", "empty", "large"/);
    await expectRefused("from/large", /it is a file/);
    await symlink("from/empty", join(directory.path, "link"));
    await expectRefused("link", /it is a symbolic link/);
    await expectRefused("missing/deeper", /missing" does not exist/, ErrorCode.NOT_FOUND);
    await expectRefused("from/large/x", /is no directory/, ErrorCode.VALIDATION);
    await expect(restoreRevision(server.client, "0".repeat(64), join(directory.path, "new"))).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
    expect((await readdir(directory.path)).sort()).toEqual(["from", "link"]);
  });

  it("leaves nothing where content is missing, damaged or of another size, where it is stopped, and where somebody was faster", async () => {
    await using directory = await temporaryDirectory();
    const { server, revisionId } = await captured(directory.path);
    const target = join(directory.path, "new");
    const sha256 = server.revisions.get(revisionId)?.manifest.entries.find(({ path }) => path === "large")?.sha256 ?? "";
    const content = server.artifacts.get(sha256) as Uint8Array;
    server.artifacts.set(sha256, content.with(5, 0));
    await expect(restoreRevision(server.client, revisionId, target)).rejects.toMatchObject({ reason: "ARTIFACT_DAMAGED" });
    server.artifacts.delete(sha256);
    await expect(restoreRevision(server.client, revisionId, target)).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
    server.artifacts.set(sha256, content);
    const stop = new AbortController();
    server.onCall = () => stop.abort();
    await expect(restoreRevision(server.client, revisionId, target, { signal: stop.signal })).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    expect(await readdir(directory.path)).toEqual(["from"]);
    server.onCall = async () => {
      await mkdir(target, { recursive: true });
      await writeFile(join(target, "mine"), "mine");
    };
    await expect(restoreRevision(server.client, revisionId, target)).rejects.toMatchObject({ reason: "DIRECTORY_NOT_EMPTY" });
    expect(await readTree(directory.path)).toMatchObject({ "new/mine": `file ${Buffer.from("mine").toString("hex")}` });
    expect((await readdir(directory.path)).sort()).toEqual(["from", "new"]);
  });

  it("trusts no server: a manifest that is not the revision's, or that leads out, makes nothing", async () => {
    await using directory = await temporaryDirectory();
    const { server, revisionId } = await captured(directory.path);
    const evil = create(ManifestSchema, { entries: [{ path: "../x", type: EntryType.DIRECTORY }] });
    server.revisions.set(revisionId, { manifest: evil, label: "", parentId: "" });
    await expect(restoreRevision(server.client, revisionId, join(directory.path, "new"))).rejects.toMatchObject({ reason: "ARTIFACT_DAMAGED" });
    // Under its true id it would be verified, and is refused all the same.
    const trueId = createHash("sha256").update(toBinary(ManifestSchema, evil)).digest("hex");
    server.revisions.set(trueId, { manifest: evil, label: "", parentId: "" });
    await expect(restoreRevision(server.client, trueId, join(directory.path, "new"))).rejects.toMatchObject({ code: ErrorCode.VALIDATION });
    expect(await readdir(directory.path)).toEqual(["from"]);
  });
});
