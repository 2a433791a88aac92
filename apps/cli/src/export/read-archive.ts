import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { extract } from "tar-stream";
import { type ArchiveFile, tarOf } from "./archive-files.ts";

/** What was found wrong, and where. */
export interface Finding {
  readonly file: string;
  readonly problem: string;
}

const BYTES_MAX = 2 * 1024 * 1024 * 1024;
const FILES_MAX = 100_010;

/** The files of an exported session, a directory or a .tar; what can't be read of it is told in `findings`. */
export async function readArchive(file: string, findings: Finding[]): Promise<ArchiveFile[]> {
  const found = await stat(file);
  return found.isDirectory() ? readDirectory(file) : readTar(file, found.size, findings);
}

async function readDirectory(root: string): Promise<ArchiveFile[]> {
  const files: ArchiveFile[] = [];
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  for (const entry of entries.slice(0, FILES_MAX)) {
    const full = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) files.push({ path: path.relative(root, full).split(path.sep).join("/"), content: await readFile(full) });
    else if (!entry.isDirectory()) files.push({ path: path.relative(root, full), content: new Uint8Array() });
  }
  return files;
}

async function readTar(file: string, size: number, findings: Finding[]): Promise<ArchiveFile[]> {
  if (size > BYTES_MAX) {
    findings.push({ file, problem: `has more than ${BYTES_MAX} bytes` });
    return [];
  }
  const files: ArchiveFile[] = [];
  const tar = extract();
  const reading = (async () => {
    for await (const entry of tar) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of entry as unknown as AsyncIterable<Uint8Array>) chunks.push(chunk);
      files.push({ path: entry.header.name, content: Buffer.concat(chunks) });
    }
  })();
  // Whichever fails, the archive is no archive from there on; what was read before is looked at.
  const [piped, read] = await Promise.allSettled([pipeline(createReadStream(file), tar), reading]);
  for (const result of [piped, read])
    if (result.status === "rejected")
      findings.push({ file, problem: `is no whole .tar: ${result.reason instanceof Error ? result.reason.message : String(result.reason)}` });
  if (findings.length === 0) await compareContainer(file, files, findings);
  return files;
}

/** What surrounds the files is made of them alone: a byte that is another is found here. */
async function compareContainer(file: string, files: readonly ArchiveFile[], findings: Finding[]): Promise<void> {
  const whole = createReadStream(file)[Symbol.asyncIterator]();
  let have: Buffer = Buffer.alloc(0);
  let position = 0;
  for await (const chunk of tarOf(files)) {
    while (have.length < chunk.length) {
      const next = await whole.next();
      if (next.done === true) break;
      have = Buffer.concat([have, next.value as Buffer]);
    }
    const part = have.subarray(0, chunk.length);
    if (!part.equals(chunk)) {
      const at =
        position +
        Math.max(
          0,
          [...part].findIndex((byte, index) => byte !== chunk[index]),
        );
      findings.push({ file, problem: `is not as it was written: byte ${at} of the archive differs` });
      return;
    }
    have = have.subarray(chunk.length);
    position += chunk.length;
  }
  const next = have.length > 0 ? { done: false } : await whole.next();
  if (next.done !== true) findings.push({ file, problem: `has more bytes than were written: from byte ${position} on` });
}
