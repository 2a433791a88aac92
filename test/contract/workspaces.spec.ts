import { createHash, randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type ConnectClient, type ForgeClient, readArtifact } from "@forge/client";
import { ErrorCode } from "@forge/protocol/common";
import { type CreateRevisionRequestSchema, type EntrySchema, EntryType, ManifestSchema } from "@forge/protocol/workspace";
import { captureRevision, driftReport, type Progress, restoreRevision } from "@forge/workspace";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CLIENTS } from "../harness/clients.ts";
import { type Cluster, startCluster } from "../harness/cluster.ts";
import { type Proxy, startProxy } from "../harness/proxy.ts";
import type { Service } from "../harness/service.ts";

type Entry = MessageInitShape<typeof EntrySchema>;

const MEDIA_TYPE = "application/octet-stream";
const LARGEST = 16 * 1024 * 1024;

const hashOf = (content: Uint8Array | string): string => createHash("sha256").update(content).digest("hex");

let cluster: Cluster;
let directory: string;
beforeAll(async () => {
  cluster = await startCluster({ controlPlanes: 2, executors: 0 });
});
afterAll(() => cluster?.close());
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "forge-workspaces-"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

async function put(client: ForgeClient, content: Uint8Array): Promise<string> {
  return (await client.artifact.putArtifact({ content, mediaType: MEDIA_TYPE })).artifact?.sha256 ?? "";
}

async function read(client: ForgeClient, sha256: string, options?: Parameters<typeof readArtifact>[2]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of readArtifact(client, sha256, options)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** A file whose content is stored. */
async function stored(client: ForgeClient, name: string, content: string): Promise<Entry> {
  return { path: name, type: EntryType.FILE, mode: 0o644, size: BigInt(content.length), sha256: await put(client, Buffer.from(content)) };
}

/** Some files, a link, an empty directory and one that may be executed. */
async function someDirectory(name: string, files = 40): Promise<string> {
  const root = path.join(directory, name);
  await mkdir(path.join(root, "empty"), { recursive: true });
  await mkdir(path.join(root, "src"));
  for (let index = 0; index < files; index++) await writeFile(path.join(root, "src", `f${index}`), `${name} ${index} ${randomBytes(8).toString("hex")}`);
  await writeFile(path.join(root, "run \u{1F680}"), "#!/bin/sh\n");
  await chmod(path.join(root, "run \u{1F680}"), 0o755);
  await symlink("src/f1", path.join(root, "link"));
  return root;
}

describe.each(CLIENTS)("over %s", (_name, connect) => {
  let proxy: Proxy;
  let client: ForgeClient;
  beforeEach(async () => {
    proxy = await startProxy(cluster.urls[0] as string);
    client = await connect({ url: proxy.url, token: cluster.clientToken });
  });
  afterEach(async () => {
    await client.close();
    await proxy.close();
  });

  it("an artifact is read whole, over a connection that is lost", async () => {
    const content = randomBytes(4 * 1024 * 1024);
    const sha256 = await put(client, content);
    const pieces: Uint8Array[] = [];
    for await (const piece of readArtifact(client, sha256)) {
      expect(piece.length).toBeLessThanOrEqual(256 * 1024);
      if (pieces.length === 0) proxy.cut();
      pieces.push(piece);
    }
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
  });

  it("an artifact is read in ranges, and a range that it does not have is an error", async () => {
    const content = randomBytes(600_000);
    const sha256 = await put(client, content);
    const range = async (offset: number, length?: number): Promise<Buffer> => await read(client, sha256, { offset, length });
    expect((await range(599_995)).equals(content.subarray(-5))).toBe(true);
    expect((await range(1, 590_000)).equals(content.subarray(1, 590_001))).toBe(true);
    expect((await range(599_995, 500)).equals(content.subarray(-5))).toBe(true);
    expect(await range(600_000)).toHaveLength(0);
    await expect(range(600_001)).rejects.toMatchObject({ code: ErrorCode.VALIDATION, detail: { metadata: { field: "offset" } } });
    await expect(range(1, 0)).rejects.toMatchObject({ code: ErrorCode.VALIDATION, detail: { metadata: { field: "length" } } });
    await expect(read(client, "0".repeat(64))).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
  });

  it("a directory is captured, restored and compared", async () => {
    const root = await someDirectory(`from ${_name}`);
    const revision = await captureRevision(client, root, { label: `label of ${_name}` });
    expect(revision).toMatchObject({ entryCount: 44, label: `label of ${_name}` });
    await restoreRevision(client, revision.revisionId, path.join(directory, "to"));
    expect((await driftReport(client, revision.revisionId, path.join(directory, "to"))).entries).toEqual([]);
    expect((await captureRevision(client, path.join(directory, "to"))).revisionId).toBe(revision.revisionId);
    await writeFile(path.join(directory, "to", "src", "f7"), "other");
    expect((await driftReport(client, revision.revisionId, path.join(directory, "to"))).entries).toMatchObject([
      { path: "src/f7", marker: "~", differs: ["content"] },
    ]);
    expect((await client.workspace.listRevisions({ label: `label of ${_name}` })).revisions).toEqual([revision]);
    await expect(client.workspace.createRevision({ manifest: { entries: [{ path: "../x", type: EntryType.DIRECTORY }] } })).rejects.toMatchObject({
      code: ErrorCode.VALIDATION,
      detail: { metadata: { field: "manifest.entries[0].path" } },
    });
  });
});

it.each(CLIENTS.filter(([name]) => ["connect", "connect-http1-json", "grpc-js", "JSON lines"].includes(name)))(
  "the largest artifact goes over %s",
  async (_name, connect) => {
    const client = await connect({ url: cluster.urls[0] as string, token: cluster.clientToken });
    try {
      const content = randomBytes(LARGEST);
      expect((await read(client, await put(client, content))).equals(content)).toBe(true);
    } finally {
      await client.close();
    }
  },
);

describe("revisions", () => {
  it("are named by their manifest, and creates of the same meet, whoever asks", async () => {
    const [one, other] = cluster.clients as [ConnectClient, ConnectClient];
    const entries = [{ path: "a", type: EntryType.DIRECTORY }, await stored(one, "a/b", "same"), { path: "c", type: EntryType.SYMLINK, target: "a/b" }];
    const encoded = toBinary(ManifestSchema, create(ManifestSchema, { entries }));
    const { artifact } = await one.artifact.putArtifact({ content: encoded, mediaType: "application/x-protobuf" });
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const client = index % 2 === 0 ? one : other;
        const from = index % 3 === 0 ? { manifestArtifact: artifact } : { manifest: { entries } };
        return (await client.workspace.createRevision({ ...from, label: `attempt ${index}` })).revision;
      }),
    );
    expect(answers[0]).toMatchObject({ revisionId: hashOf(encoded), entryCount: 3, size: 4n, parentId: "" });
    expect(answers).toEqual(answers.map(() => answers[0]));
    expect((await other.workspace.createRevision({ manifest: { entries }, label: "later" })).revision).toEqual(answers[0]);
    const child = await one.workspace.createRevision({ manifest: { entries: entries.slice(0, 2) }, parentId: hashOf(encoded) });
    expect(child.revision?.parentId).toBe(hashOf(encoded));
    await expect(one.workspace.createRevision({ manifest: { entries: [] }, parentId: "0".repeat(64) })).rejects.toMatchObject({
      code: ErrorCode.NOT_FOUND,
      detail: { metadata: { field: "parent_id" } },
    });
  });

  it("wait for their content, and name the first that is missing", async () => {
    const { client } = cluster;
    const files = Array.from({ length: 100 }, (_, index) => ({
      path: `f${String(index).padStart(3, "0")}`,
      type: EntryType.FILE,
      mode: 0o644,
      size: 5n,
      sha256: hashOf(`f${index} never`),
    }));
    const entries = [...files.slice(0, 50), await stored(client, "f049a", "there"), ...files.slice(50)];
    const error = (await client.workspace.createRevision({ manifest: { entries } }).catch((thrown: unknown) => thrown)) as { detail: { relatedIds: string[] } };
    expect(error).toMatchObject({ code: ErrorCode.CONFLICT, reason: "ARTIFACT_MISSING", detail: { metadata: { missing_count: "100" } } });
    expect(error.detail.relatedIds).toEqual(files.slice(0, 64).map(({ sha256 }) => sha256));
    const wrong = { ...(await stored(client, "x", "four")), size: 5n };
    await expect(client.workspace.createRevision({ manifest: { entries: [wrong] } })).rejects.toMatchObject({
      code: ErrorCode.VALIDATION,
      detail: { metadata: { field: "manifest.entries[0].size" } },
    });
  });

  it("are read page by page in order of their paths, also those that fit no message", async () => {
    const { client } = cluster;
    const directories = Array.from({ length: 6_000 }, (_, index) => ({
      path: `${String(index).padStart(5, "0")}${"é".repeat(140)}`,
      type: EntryType.DIRECTORY,
    }));
    const manifest = create(ManifestSchema, { entries: directories });
    await expect(client.workspace.createRevision({ manifest })).rejects.toMatchObject({
      code: ErrorCode.VALIDATION,
      detail: { metadata: { field: "manifest" } },
    });
    const { artifact } = await client.artifact.putArtifact({ content: toBinary(ManifestSchema, manifest), mediaType: "application/x-protobuf" });
    const { revision } = await client.workspace.createRevision({ manifestArtifact: artifact });
    const revisionId = revision?.revisionId ?? "";
    const paths: string[] = [];
    const sizes: number[] = [];
    for (let afterPath = ""; ; ) {
      const page = await client.workspace.getRevision({ revisionId, afterPath, pageSize: 5_000 });
      paths.push(...page.entries.map((entry) => entry.path));
      sizes.push(page.entries.length);
      if (page.nextAfterPath === "") break;
      afterPath = page.nextAfterPath;
    }
    expect(paths).toEqual(directories.map((entry) => entry.path));
    // Two pages by their bytes, though one page might have 5,000 entries.
    expect(sizes.every((size) => size < 5_000)).toBe(true);
    expect((await client.workspace.getRevision({ revisionId })).entries).toHaveLength(1_000);
    expect((await client.workspace.getRevision({ revisionId, afterPath: "05998\u{10FFFF}" })).entries.map((entry) => entry.path)).toEqual([
      directories[5_999]?.path,
    ]);
    expect((await client.workspace.getRevision({ revisionId, afterPath: "z" })).entries).toEqual([]);
    await expect(client.workspace.getRevision({ revisionId, pageSize: 5_001 })).rejects.toMatchObject({ detail: { metadata: { field: "page_size" } } });
    await expect(client.workspace.getRevision({ revisionId: "x" })).rejects.toMatchObject({ detail: { metadata: { field: "revision_id" } } });
    await expect(client.workspace.getRevision({ revisionId: "0".repeat(64) })).rejects.toMatchObject({ code: ErrorCode.NOT_FOUND });
  });

  it("are listed newest first, page by page and by label", async () => {
    const { client } = cluster;
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) {
      const entries = [{ path: `listed ${index}`, type: EntryType.DIRECTORY }];
      ids.unshift((await client.workspace.createRevision({ manifest: { entries }, label: "listed" })).revision?.revisionId ?? "");
    }
    const listed: string[] = [];
    for (let pageToken = ""; ; ) {
      const page = await client.workspace.listRevisions({ label: "listed", pageSize: 2, pageToken });
      listed.push(...page.revisions.map(({ revisionId }) => revisionId));
      if (page.nextPageToken === "") break;
      pageToken = page.nextPageToken;
    }
    // Those of one millisecond stand in order of their ids.
    expect(listed.toSorted()).toEqual(ids.toSorted());
    expect((await client.workspace.listRevisions({ label: "nobody's" })).revisions).toEqual([]);
    await expect(client.workspace.listRevisions({ pageToken: "x" })).rejects.toMatchObject({ detail: { metadata: { field: "page_token" } } });
    await expect(client.workspace.listRevisions({ pageSize: 501 })).rejects.toMatchObject({ detail: { metadata: { field: "page_size" } } });
    await expect(client.workspace.listRevisions({ label: "x".repeat(257) })).rejects.toMatchObject({ detail: { metadata: { field: "label" } } });
  });

  it("are refused with a manifest that is none", async () => {
    const { client } = cluster;
    const { artifact } = await client.artifact.putArtifact({ content: Buffer.from("no manifest"), mediaType: "application/x-protobuf" });
    const expectField = async (request: MessageInitShape<typeof CreateRevisionRequestSchema>, field: string) =>
      await expect(client.workspace.createRevision(request)).rejects.toMatchObject({ code: ErrorCode.VALIDATION, detail: { metadata: { field } } });
    await expectField({}, "manifest");
    await expectField({ manifest: {}, manifestArtifact: artifact }, "manifest");
    await expectField({ manifestArtifact: artifact }, "manifest_artifact");
    await expectField({ manifestArtifact: { sha256: artifact?.sha256 ?? "", mediaType: "text/plain" } }, "manifest_artifact.media_type");
    await expectField({ manifest: {}, label: "a\0b" }, "label");
    await expectField({ manifest: {}, parentId: "x" }, "parent_id");
    const missing = { sha256: "1".repeat(64), mediaType: "application/x-protobuf" };
    await expect(client.workspace.createRevision({ manifestArtifact: missing })).rejects.toMatchObject({ reason: "ARTIFACT_MISSING" });
  });

  it("whose bytes were damaged in the database are never given out", async () => {
    const { client } = cluster;
    const content = `whole ${randomBytes(8).toString("hex")}`;
    const entry = await stored(client, "file", content);
    const { revision } = await client.workspace.createRevision({ manifest: { entries: [entry] } });
    await cluster.database.execute(`update forge.artifact set content = 'other' where sha256 in ('${entry.sha256}', '${revision?.revisionId}')`);
    await expect(read(client, entry.sha256 ?? "", { offset: 2, length: 2 })).rejects.toMatchObject({
      code: ErrorCode.STORAGE_ERROR,
      reason: "ARTIFACT_DAMAGED",
    });
    await expect(client.workspace.getRevision({ revisionId: revision?.revisionId })).rejects.toMatchObject({ reason: "ARTIFACT_DAMAGED" });
    await expect(restoreRevision(client, revision?.revisionId ?? "", path.join(directory, "to"))).rejects.toMatchObject({ reason: "ARTIFACT_DAMAGED" });
  });
});

it("a directory is captured by many at once and restored while control planes are killed", async () => {
  const root = await someDirectory("many", 200);
  const restarts: Promise<void>[] = [];
  /** Kills a control plane when so many files are done, and starts it again. */
  const killing = (phase: Progress["phase"], ...moments: readonly number[]) => {
    const left = [...moments];
    return (progress: Progress): void => {
      if (progress.phase !== phase || progress.files < (left[0] ?? Number.POSITIVE_INFINITY)) return;
      left.shift();
      restarts.push((cluster.controlPlanes[left.length % 2] as Service).restart());
    };
  };
  const onProgress = killing("putting", 20, 90);
  const ids = await Promise.all(
    [0, 1, 0, 1].map(async (index, at) => (await captureRevision(cluster.clients[index] as ForgeClient, root, at === 0 ? { onProgress } : {})).revisionId),
  );
  expect(new Set(ids).size).toBe(1);
  const target = path.join(directory, "restored");
  await restoreRevision(cluster.client, ids[0] as string, target, { onProgress: killing("getting", 20, 90) });
  await Promise.all(restarts);
  expect(restarts.length).toBe(4);
  expect((await driftReport(cluster.client, ids[0] as string, target)).entries).toEqual([]);
});
