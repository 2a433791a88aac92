import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, ftruncateSync, openSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { appendFile, chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { captureRevision } from "./capture-revision.ts";
import type { Progress } from "./progress.ts";
import { MemoryServer } from "./testing/memory-server.ts";
import { makeTree, temporaryDirectory, text } from "./testing/tree.ts";

const isRoot = process.getuid?.() === 0;

/** What a revision says, a line for each path. */
function lines(server: MemoryServer, revisionId: string): string[] {
  return (server.revisions.get(revisionId)?.manifest.entries ?? []).map(({ path, mode, sha256, target }) => {
    const content = sha256 === "" ? "" : ` ${mode.toString(8)} ${Buffer.from(server.artifacts.get(sha256) ?? []).toString()}`;
    return `${path}${content}${target === "" ? "" : ` -> ${target}`}`;
  });
}

describe("capturing a directory", () => {
  it("keeps files, their mode, empty directories and links as links, and of Forge's own data nothing", async () => {
    await using directory = await temporaryDirectory();
    await makeTree(directory.path, {
      "b.sh": text("run", true),
      "a/.forge/data/x": text("x"),
      ".forge/data/pg/1": text("1"),
      ".forge/config": text("kept"),
      "elsewhere/db/.forge-data": text(""),
      "elsewhere/db/token": text("secret"),
      ".git/HEAD": text("ref"),
      empty: "directory",
      "a/up": { link: "../b.sh" },
      nowhere: { link: "missing" },
    });
    const server = new MemoryServer();
    const { revisionId } = await captureRevision(server.client, directory.path, { label: "first", parent: "" });
    expect(lines(server, revisionId)).toEqual([
      ".forge",
      ".forge/config 644 kept",
      ".git",
      ".git/HEAD 644 ref",
      "a",
      "a/up -> ../b.sh",
      "b.sh 755 run",
      "elsewhere",
      "empty",
      "nowhere -> missing",
    ]);
    expect(server.revisions.get(revisionId)?.label).toBe("first");
  });

  it("leaves out what it is told to: names wherever they stand, paths where they are", async () => {
    await using directory = await temporaryDirectory();
    await makeTree(directory.path, { "node_modules/x": text("x"), "a/node_modules/x": text("x"), "a/out/x": text("x"), "out/x": text("x"), "a/b": text("b") });
    const server = new MemoryServer();
    const { revisionId } = await captureRevision(server.client, directory.path, { exclude: ["node_modules", "./a/out/"] });
    expect(lines(server, revisionId)).toEqual(["a", "a/b 644 b", "out", "out/x 644 x"]);
    await expect(captureRevision(server.client, directory.path, { exclude: ["../x"] })).rejects.toMatchObject({ code: ErrorCode.VALIDATION });
  });

  it("sends only what the server lacks, each content once, and tells how far it is", async () => {
    await using directory = await temporaryDirectory();
    const tree = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`d${index % 7}/f${index}`, text(`content ${index % 250}`)]));
    await makeTree(directory.path, tree);
    const server = new MemoryServer();
    const told: Progress[] = [];
    const first = await captureRevision(server.client, directory.path, { onProgress: (progress) => told.push(progress) });
    expect(server.puts).toHaveLength(250);
    expect(server.creates).toBe(2);
    expect(told.filter(({ phase }) => phase === "reading").at(-1)).toMatchObject({ files: 300 });
    expect(told.at(-1)).toMatchObject({ phase: "putting", files: 250, filesTotal: 250 });

    server.puts.length = 0;
    for (const index of [3, 80, 222]) await writeFile(join(directory.path, `d${index % 7}/f${index}`), `changed ${index}`);
    const second = await captureRevision(server.client, directory.path, { parent: first.revisionId });
    expect(second.revisionId).not.toBe(first.revisionId);
    expect(server.puts).toHaveLength(3);
    await captureRevision(server.client, directory.path);
    expect(server.puts).toHaveLength(3);

    // Some hundreds among many, in lists of 64.
    for (let index = 0; index < 250; index += 3) server.artifacts.delete(server.revisions.get(second.revisionId)?.manifest.entries[index + 10]?.sha256 ?? "");
    server.puts.length = 0;
    const lacking = new Set(
      server.revisions
        .get(second.revisionId)
        ?.manifest.entries.map(({ sha256 }) => sha256)
        .filter((sha256) => sha256 !== "" && !server.artifacts.has(sha256)),
    );
    await captureRevision(server.client, directory.path);
    expect(new Set(server.puts)).toEqual(lacking);
  });

  it("sends a manifest that is too long for a message as an artifact", async () => {
    await using directory = await temporaryDirectory();
    const names = Array.from({ length: 5_000 }, (_, index) => `${String(index).padStart(5, "0")}${"n".repeat(235)}`);
    await Promise.all(names.map(async (name) => await symlink("x", join(directory.path, name))));
    const server = new MemoryServer();
    const { revisionId } = await captureRevision(server.client, directory.path);
    expect(lines(server, revisionId)).toHaveLength(5_000);
    expect(server.puts).toEqual([revisionId]);
  });

  it("refuses what can't be kept, and names it", async () => {
    await using directory = await temporaryDirectory();
    const server = new MemoryServer();
    const expectRefused = async (message: RegExp, code: ErrorCode = ErrorCode.VALIDATION) =>
      await expect(captureRevision(server.client, directory.path)).rejects.toMatchObject({ name: "ForgeError", code, message: expect.stringMatching(message) });

    await mkdir(join(directory.path, "d"));
    const [thing, removed] = [join(directory.path, "d", "thing"), async () => await rm(thing)];
    execFileSync("mkfifo", [thing]);
    await expectRefused(/^"d\/thing" is a pipe/);
    await removed();
    const socket = createServer().listen(thing);
    await once(socket, "listening");
    await expectRefused(/^"d\/thing" is a socket/);
    await new Promise((resolve) => socket.close(resolve));
    await symlink("../..", thing);
    await expectRefused(/"d\/thing" leads out of the directory/);
    await removed();
    await symlink("/etc/passwd", thing);
    await expectRefused(/"d\/thing" leads out of the directory/);
    await removed();
    const file = openSync(thing, "w");
    ftruncateSync(file, 16 * 1024 * 1024 + 1);
    closeSync(file);
    await expectRefused(/^"d\/thing" has 16777217 bytes: .* at most 16777216/);
    await removed();
    writeFileSync(Buffer.concat([Buffer.from(`${directory.path}/d/`), Buffer.from([0x61, 0xff])]), "");
    await expectRefused(/in "d" is not UTF-8.*"a\\xff"/);
    expect(server.puts).toEqual([]);
  });

  it("refuses what is no directory, and what it may not read", async () => {
    await using directory = await temporaryDirectory();
    const { client } = new MemoryServer();
    await writeFile(join(directory.path, "file"), "");
    await expect(captureRevision(client, join(directory.path, "missing"))).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
    await expect(captureRevision(client, join(directory.path, "file"))).rejects.toMatchObject({ code: ErrorCode.VALIDATION });
    await chmod(join(directory.path, "file"), 0);
    // Root may read everything.
    if (!isRoot) await expect(captureRevision(client, directory.path)).rejects.toMatchObject({ code: ErrorCode.PERMISSION_DENIED });
  });

  it("reads a file that changes again, and says which one never stops", async () => {
    await using directory = await temporaryDirectory();
    const log = join(directory.path, "log");
    await writeFile(log, "");
    const server = new MemoryServer();
    const stop = new AbortController();
    const writing = (async () => {
      while (!stop.signal.aborted) await appendFile(log, "line\n");
    })();
    await expect(captureRevision(server.client, directory.path)).rejects.toMatchObject({
      reason: "FILE_CHANGING",
      message: expect.stringMatching(/^"log" changes all the time/),
    });
    stop.abort();
    await writing;
    const { revisionId } = await captureRevision(server.client, directory.path);
    expect(lines(server, revisionId)[0]).toMatch(/^log 644 line\n/);
  });

  it("keeps what is in a file when it is sent, where that is another than was read first", async () => {
    await using directory = await temporaryDirectory();
    await makeTree(directory.path, { a: text("old a"), b: text("old b"), same: text("old a") });
    const server = new MemoryServer();
    server.onCall = (name) => {
      if (name !== "create" || server.creates > 0) return;
      writeFileSync(join(directory.path, "new"), "new a, and longer");
      renameSync(join(directory.path, "new"), join(directory.path, "a"));
    };
    const { revisionId } = await captureRevision(server.client, directory.path);
    expect(lines(server, revisionId)).toEqual(["a 644 new a, and longer", "b 644 old b", "same 644 old a"]);
  });

  it("looks again where a file goes away before it was sent, and never follows a link that is put in its place", async () => {
    await using directory = await temporaryDirectory();
    await using outside = await temporaryDirectory();
    await makeTree(outside.path, { secret: text("secret") });
    await makeTree(directory.path, { "a/secret": text("inside"), gone: text("gone"), secret: text("also inside") });
    const server = new MemoryServer();
    server.onCall = (name) => {
      if (name !== "create" || server.creates > 0) return;
      rmSync(join(directory.path, "gone"));
      rmSync(join(directory.path, "a"), { recursive: true });
      symlinkSync(outside.path, join(directory.path, "a"));
      rmSync(join(directory.path, "secret"));
      symlinkSync(join(outside.path, "secret"), join(directory.path, "secret"));
    };
    await expect(captureRevision(server.client, directory.path)).rejects.toMatchObject({ message: expect.stringMatching(/"a" leads out/) });
    await rm(join(directory.path, "a"));
    await rm(join(directory.path, "secret"));
    const { revisionId } = await captureRevision(server.client, directory.path);
    expect(lines(server, revisionId)).toEqual([]);
    expect([...server.artifacts.values()].map((content) => Buffer.from(content).toString())).not.toContain("secret");
  });

  it("stops at its signal", async () => {
    await using directory = await temporaryDirectory();
    await makeTree(directory.path, { a: text("a"), b: text("b") });
    const server = new MemoryServer();
    const stop = new AbortController();
    server.onCall = (name) => {
      if (name === "put") stop.abort();
    };
    await expect(captureRevision(server.client, directory.path, { signal: stop.signal })).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    await expect(captureRevision(server.client, directory.path, { signal: stop.signal })).rejects.toMatchObject({ code: ErrorCode.CANCELLED });
    expect(server.revisions.size).toBe(0);
  });
});
