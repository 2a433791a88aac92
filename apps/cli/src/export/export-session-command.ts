import { mkdir, open, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { readArtifact } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { reviewSession, sessionEvents } from "../review/review-session.ts";
import { checkId } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { type ArchiveFile, tarOf } from "./archive-files.ts";
import { artifactsIn } from "./artifacts-in.ts";
import { CHAIN_START, chained, sha256 } from "./chain.ts";
import type { Manifest } from "./manifest.ts";

/** An export is held in memory once, so that it is written wholly or not at all. */
const BYTES_MAX = 1024 * 1024 * 1024;

/** `forge session export`: a session with its artifacts and a chain of hashes over its events. */
export async function exportSessionCommand(context: Context, id: string, target: string, options: ServerOptions): Promise<number> {
  checkId(id);
  const { terminal, directory } = context;
  const file = path.resolve(directory, target);
  const { link } = await openExisting(context, options, { reads: true });
  try {
    await link.call((client) => client.session.getSessionSnapshot({ sessionId: id }));
    const { files, manifest } = await collect(link, id);
    if (file.endsWith(".tar")) await writeTar(file, files);
    else await writeDirectory(file, files);
    const { head, events, artifacts, missing_artifacts: missing } = manifest;
    if (options.json === true) terminal.print(JSON.stringify({ exported: { file, head, events, artifacts: artifacts.length, missing_artifacts: missing } }));
    else {
      terminal.print(`${file}: ${events} events, ${artifacts.length} artifacts`);
      terminal.print(`The chain ends with ${head}: keep that elsewhere, and forge session verify ${target} --head ${head} finds every change.`);
      if (missing.length > 0) terminal.note(`${missing.length} artifacts are gone from the store, and so not in it; the first is ${missing[0] ?? ""}`);
    }
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

async function collect(link: ProjectLink, sessionId: string): Promise<{ readonly files: readonly ArchiveFile[]; readonly manifest: Manifest }> {
  const events = await sessionEvents(link, sessionId);
  let head = CHAIN_START;
  const lines = events.map((event) => {
    // As it will be read: keys that look like numbers come first then.
    const read = JSON.parse(messageLine(EventSchema, event)) as unknown;
    head = chained(head, JSON.stringify(read));
    return JSON.stringify({ hash: head, event: read });
  });
  const artifacts: ArchiveFile[] = [];
  const missing: string[] = [];
  let size = 0;
  for (const name of artifactsIn(events)) {
    const content = await artifact(link, name);
    if (content === undefined) missing.push(name);
    else artifacts.push({ path: `artifacts/${name}`, content });
    size += content?.length ?? 0;
    if (size > BYTES_MAX)
      throw new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `the artifacts of ${sessionId} have more than ${BYTES_MAX} bytes together`, {
        reason: "EXPORT_TOO_LARGE",
      });
  }
  const { review, markdown } = await reviewSession(link, sessionId);
  const reviewJson = `${JSON.stringify(review, undefined, 2)}\n`;
  const manifest: Manifest = {
    format: "forge-session/1",
    session_id: sessionId,
    events: events.length,
    head,
    review_json: sha256(reviewJson),
    review_md: sha256(markdown),
    artifacts: artifacts.map(({ path: name, content }) => ({ sha256: path.posix.basename(name), size: content.length })),
    missing_artifacts: missing,
  };
  const text = `${JSON.stringify(manifest, undefined, 2)}\n`;
  const file = (name: string, content: string): ArchiveFile => ({ path: name, content: Buffer.from(content) });
  return {
    manifest,
    files: [
      file("manifest.json", text),
      file("manifest.sha256", `${sha256(text)}\n`),
      file("events.jsonl", lines.map((line) => `${line}\n`).join("")),
      file("review.json", reviewJson),
      file("review.md", markdown),
      ...artifacts,
    ],
  };
}

async function artifact(link: ProjectLink, name: string): Promise<Buffer | undefined> {
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of readArtifact(link.client, name)) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof ForgeError && error.code === ErrorCode.NOT_FOUND) return undefined;
    throw error;
  }
}

async function writeTar(file: string, files: readonly ArchiveFile[]): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      for await (const chunk of tarOf(files)) await handle.write(chunk);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeDirectory(directory: string, files: readonly ArchiveFile[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  if ((await readdir(directory)).length > 0)
    throw new ForgeError(ErrorCode.CONFLICT, `${directory} is not empty: name a directory that is, or a .tar file`, { reason: "TARGET_NOT_EMPTY" });
  await mkdir(path.join(directory, "artifacts"));
  for (const { path: name, content } of files) await writeFile(path.join(directory, name), content, { mode: 0o600 });
}
