import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ArchiveFile, tarOf } from "./archive-files.ts";
import { CHAIN_START, chained, sha256 } from "./chain.ts";
import { type Finding, readArchive } from "./read-archive.ts";
import { verifyArchive } from "./verify-archive.ts";
import { recordedFiles, workspaceDrift } from "./workspace-drift.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "forge-verify-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const CHANGES = [
  { seq: "1", session_created: { title: "\u{FFFD}" } },
  { seq: "2", workspace_change_recorded: { change_id: "a", files: [{ path: "kept.txt", after_sha256: sha256("kept") }] } },
  { seq: "3", workspace_change_recorded: { change_id: "b", files: [{ path: "kept.txt", before_sha256: sha256("kept"), after_sha256: sha256("other") }] } },
  { seq: "4", workspace_change_recorded: { change_id: "c", files: [{ path: "gone.txt", before_sha256: sha256("x") }] } },
  { seq: "5", workspace_change_undone: { change_ids: ["b"] } },
];

function exported(): ArchiveFile[] {
  let head = CHAIN_START;
  const lines = CHANGES.map((event) => {
    head = chained(head, JSON.stringify(event));
    return `${JSON.stringify({ hash: head, event })}\n`;
  });
  const artifact = Buffer.from("an artifact");
  const manifest = `${JSON.stringify({
    format: "forge-session/1",
    session_id: "s",
    events: lines.length,
    head,
    review_json: sha256("{}"),
    review_md: sha256("# Review"),
    artifacts: [{ sha256: sha256(artifact), size: artifact.length }],
    missing_artifacts: [],
  })}\n`;
  const text = (name: string, content: string) => ({ path: name, content: Buffer.from(content) });
  return [
    text("manifest.json", manifest),
    text("manifest.sha256", `${sha256(manifest)}\n`),
    text("events.jsonl", lines.join("")),
    text("review.json", "{}"),
    text("review.md", "# Review"),
    { path: `artifacts/${sha256(artifact)}`, content: artifact },
  ];
}

async function tarFile(change: (bytes: Buffer) => Buffer = (bytes) => bytes): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of tarOf(exported())) chunks.push(chunk);
  const file = path.join(directory, "session.tar");
  await writeFile(file, change(Buffer.concat(chunks)));
  return file;
}

async function verify(file: string, head?: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  verifyArchive(await readArchive(file, findings), head, findings);
  return findings;
}

describe("an exported session", () => {
  it("is as it was written", async () => {
    const file = await tarFile();
    expect(await verify(file)).toEqual([]);
    expect(await verify(file, "0".repeat(64))).toMatchObject([{ file: "manifest.json", problem: expect.stringContaining("is to end with") }]);
  });

  it("has no byte that could be another one, in the archive or in a file", async () => {
    const size = (await readFile(await tarFile())).length;
    // Every byte of every kind of place: headers, contents, paddings, the end. Each seventh is enough to meet them all.
    for (let at = 0; at < size; at += 7) {
      const file = await tarFile((bytes) => {
        bytes[at] = (bytes[at] as number) ^ 1;
        return bytes;
      });
      expect((await verify(file)).length, `byte ${at}`).toBeGreaterThan(0);
    }
    expect((await verify(await tarFile((bytes) => bytes.subarray(0, -1)))).length).toBeGreaterThan(0);
    expect((await verify(await tarFile((bytes) => Buffer.concat([bytes, Buffer.alloc(512)])))).length).toBeGreaterThan(0);
  });

  it("has no bytes that only read like those that were written", () => {
    const findings: Finding[] = [];
    const files = exported().map((file) => {
      const content = Buffer.from(file.content);
      // Of the three bytes of U+FFFD the first: no text any more, and read leniently the same one.
      if (file.path === "events.jsonl") content[content.indexOf(0xef)] = 0xf0;
      return { ...file, content };
    });
    verifyArchive(files, undefined, findings);
    expect(findings).toMatchObject([{ file: "events.jsonl", problem: expect.stringContaining("no text") }]);
  });

  it("names the file, and the event, that was changed", async () => {
    const changed = (name: string, from: string, to: string) => {
      const findings: Finding[] = [];
      const files = exported().map((file) =>
        file.path.startsWith(name) ? { ...file, content: Buffer.from(Buffer.from(file.content).toString().replace(from, to)) } : file,
      );
      verifyArchive(files, undefined, findings);
      return findings.map(({ file, problem }) => `${file} ${problem}`);
    };
    expect(changed("events", '"seq":"3"', '"seq":"9"')[0]).toMatch(/^events.jsonl line 3 was changed.*event 9/);
    expect(changed("review.md", "Review", "Reviews")).toEqual(["review.md was changed"]);
    expect(changed("artifacts/", "an", "no")[0]).toMatch(/^artifacts\/[0-9a-f]{64} was changed$/);
    expect(changed("manifest.json", '"s"', '"t"')[0]).toMatch(/^manifest.json is not what manifest.sha256 says/);
    const findings: Finding[] = [];
    verifyArchive([...exported().slice(0, -1), { path: "more", content: Buffer.from("x") }], undefined, findings);
    expect(findings.map(({ problem }) => problem)).toEqual(["is missing", "was not written by the export"]);
  });

  it("tells where the workspace is no longer as the session left it", async () => {
    const files = recordedFiles(CHANGES);
    expect(Object.fromEntries(files)).toEqual({ "kept.txt": sha256("kept"), "gone.txt": "" });
    const workspace = path.join(directory, "workspace");
    await mkdir(workspace);
    await writeFile(path.join(workspace, "kept.txt"), "kept");
    const drift = async () => {
      const findings: Finding[] = [];
      await workspaceDrift(workspace, files, findings);
      return findings.map(({ file, problem }) => `${file} ${problem.split(":")[0]}`);
    };
    expect(await drift()).toEqual([]);
    await writeFile(path.join(workspace, "kept.txt"), "changed");
    await writeFile(path.join(workspace, "gone.txt"), "back");
    expect(await drift()).toEqual(["kept.txt differs from what the session left", "gone.txt was deleted by the session, and is there"]);
    await rm(path.join(workspace, "kept.txt"));
    expect(await drift()).toEqual(["kept.txt is missing from the workspace", "gone.txt was deleted by the session, and is there"]);
  });
});
