import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { ForgeError } from "@forge/protocol";
import { extract, type Header } from "tar-stream";
import { bundleError, tooLarge } from "./bundle-error.ts";
import { entryPath } from "./entry-path.ts";
import { BUNDLE_LIMITS, type BundleLimits } from "./limits.ts";

/** Takes a file, whole, or a directory. */
export type TakeEntry = (entry: { readonly path: string; readonly content: Buffer | undefined; readonly isExecutable: boolean }) => Promise<void>;

/**
 * Reads a .tar.gz entry by entry, and holds no more than one file. Only files and directories are taken; everything that could lead out of a directory, and
 * everything that is more than a project holds, ends it. Errors: validation, BUNDLE_INVALID; resource_exhausted, BUNDLE_TOO_LARGE.
 */
export async function readBundle(archive: AsyncIterable<Uint8Array>, take: TakeEntry, limits: BundleLimits = BUNDLE_LIMITS): Promise<void> {
  const seen = new Map<string, "file" | "directory">();
  const tar = extract();
  const entries = (async () => {
    let count = 0;
    for await (const entry of tar) {
      if (++count > limits.entriesMax) throw tooLarge(`the archive has more than ${limits.entriesMax} entries: nothing was unpacked`);
      const { header } = entry;
      const type = kindOf(header);
      const path = entryPath(header.name);
      remember(path, type, seen);
      const content = type === "file" ? await contentOf(entry as unknown as AsyncIterable<Buffer>, header, limits) : undefined;
      if (type === "directory") entry.resume();
      if (path !== "") await take({ path, content, isExecutable: ((header.mode ?? 0) & 0o100) !== 0 });
    }
  })();
  const { packed, unpacked } = meters(limits);
  const feeding = pipeline(Readable.from(archive), packed, createGunzip(), unpacked, tar);
  // Whichever fails first tells why; the other one only that it was ended.
  const [first] = await settle([entries, feeding], () => tar.destroy());
  if (first !== undefined) throw explain(first);
}

/** Waits for both; what went wrong first, at which `end` is called so that the other one ends too. */
async function settle(promises: readonly Promise<void>[], end: () => void): Promise<unknown[]> {
  const failures: unknown[] = [];
  await Promise.all(
    promises.map((promise) =>
      promise.catch((error: unknown) => {
        failures.push(error);
        end();
      }),
    ),
  );
  // An archive that is refused closes its stream, which is no reason of its own.
  return failures.toSorted((a, b) => Number(isClosing(a)) - Number(isClosing(b)));
}

function isClosing(error: unknown): boolean {
  if (error instanceof ForgeError) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === "ERR_STREAM_PREMATURE_CLOSE" || code === "ABORT_ERR" || (error instanceof Error && /closed|destroyed/.test(error.message));
}

function explain(error: unknown): unknown {
  if (error instanceof ForgeError) return error;
  const { code = "", message = "" } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  if (code === "Z_BUF_ERROR") return bundleError("the archive is cut off: nothing was unpacked", { cause: error });
  if (code.startsWith("Z_")) return bundleError(`the archive is no .tar.gz (${message}): nothing was unpacked`, { cause: error });
  if (/tar header|checksum|Unexpected end|unknown format|Invalid tar/i.test(message))
    return bundleError(`the archive is no .tar.gz of files (${message}): nothing was unpacked`, { cause: error });
  return error;
}

function kindOf({ type, name }: Header): "file" | "directory" {
  if (type === "file" || type === "contiguous-file" || type === undefined || type === null) return "file";
  if (type === "directory") return "directory";
  const what = type === "symlink" || type === "link" ? "a link" : type.endsWith("device") ? "a device" : type;
  throw bundleError(`the archive has ${JSON.stringify(name.slice(0, 200))}, which is ${what} and no file: nothing was unpacked`);
}

/** One path is one thing, also where the file system takes two ways of writing it for one. */
function remember(path: string, type: "file" | "directory", seen: Map<string, "file" | "directory">): void {
  const key = path.normalize("NFC").toLowerCase();
  const before = seen.get(key);
  if (before !== undefined && !(before === "directory" && type === "directory"))
    throw bundleError(`the archive has ${JSON.stringify(path)} twice: nothing was unpacked`);
  seen.set(key, type);
  const parts = key.split("/");
  for (let length = 1; length < parts.length; length++) {
    const parent = parts.slice(0, length).join("/");
    if (seen.get(parent) === "file") throw bundleError(`the archive has ${JSON.stringify(path)} below a file: nothing was unpacked`);
    seen.set(parent, "directory");
  }
}

async function contentOf(entry: AsyncIterable<Buffer>, { name, size }: Header, limits: BundleLimits): Promise<Buffer> {
  if (size > limits.fileBytesMax) throw tooLarge(`${JSON.stringify(name.slice(0, 200))} has more than ${limits.fileBytesMax} bytes: nothing was unpacked`);
  const chunks: Buffer[] = [];
  for await (const chunk of entry) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Two streams that let everything pass until it is too much: of what is packed, and of what comes out of it. */
function meters(limits: BundleLimits): { readonly packed: Transform; readonly unpacked: Transform } {
  let packed = 0;
  let unpacked = 0;
  return {
    packed: new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        packed += chunk.length;
        if (packed > limits.archiveBytesMax) done(tooLarge(`the archive has more than ${limits.archiveBytesMax} bytes: nothing was unpacked`));
        else done(null, chunk);
      },
    }),
    unpacked: new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        unpacked += chunk.length;
        if (unpacked > limits.bytesMax) done(tooLarge(`the archive unpacks to more than ${limits.bytesMax} bytes: nothing was unpacked`));
        else if (unpacked > limits.ratioFreeBytes && unpacked > packed * limits.ratioMax)
          done(tooLarge(`the archive unpacks to more than ${limits.ratioMax} times its size: nothing was unpacked`));
        else done(null, chunk);
      },
    }),
  };
}
