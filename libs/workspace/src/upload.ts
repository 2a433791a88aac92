import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { type ForgeClient, withRetry } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type CreateRevisionRequest, type Entry, ManifestSchema, type Revision } from "@forge/protocol/workspace";
import type { CaptureOptions } from "./capture-options.ts";
import { codeOf, fileError, quoted } from "./directory/file-error.ts";
import { inParentOf, type OpenDirectory } from "./directory/open-directory.ts";
import { type FileState, openFile, readFile } from "./directory/read-file.ts";
import { checkedSize } from "./limits.ts";
import { forEachParallel } from "./parallel.ts";
import { stopIfAborted } from "./stop.ts";

const MEDIA_TYPE = "application/octet-stream";
const MANIFEST_MEDIA_TYPE = "application/x-protobuf";
/** Of an encoded manifest in a message; a larger one goes as an artifact. */
const INLINE_BYTES_MAX = 1024 * 1024;
const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;
/** Each holds a file of up to 16 MiB in memory, and once more as it is sent. */
const PUTTING_MAX = 4;
/** The server lists 64 missing ones at a time. Who has put so many lists sends the rest without asking. */
const LISTS_MAX = 16;

type Parts = Pick<CaptureOptions, "label" | "parent" | "onProgress" | "signal">;

/** Brings what a server lacks of a directory to it, and then its manifest. */
export class Upload {
  readonly #client: Pick<ForgeClient, "artifact" | "workspace">;
  readonly #root: OpenDirectory;
  readonly #entries: Entry[];
  readonly #options: Parts;
  /** Content that the server has, as far as is known. */
  readonly #present = new Set<string>();
  #files = 0;
  #bytes = 0;

  constructor(client: Pick<ForgeClient, "artifact" | "workspace">, root: OpenDirectory, entries: readonly Entry[], options: Parts) {
    this.#client = client;
    this.#root = root;
    this.#entries = [...entries];
    this.#options = options;
  }

  /** Errors: conflict, FILE_CHANGING, where a file that is to be sent is no file any more. */
  async finish(): Promise<Revision> {
    for (let lists = 0; ; lists++) {
      try {
        return await this.#create();
      } catch (error) {
        const wanted = this.#wanted(error, lists);
        const filesTotal = this.#files + wanted.length;
        await forEachParallel(wanted, PUTTING_MAX, async (index) => await this.#put(index, filesTotal));
      }
    }
  }

  async #create(): Promise<Revision> {
    const { label = "", parent = "", signal } = this.#options;
    stopIfAborted(signal);
    const manifest = create(ManifestSchema, { entries: this.#entries });
    const encoded = toBinary(ManifestSchema, manifest);
    if (encoded.length > MANIFEST_BYTES_MAX) {
      throw ForgeError.validation("directory", `its manifest has ${encoded.length} bytes: at most ${MANIFEST_BYTES_MAX}; leave some files out`, {
        origin: "client",
      });
    }
    const request: Partial<CreateRevisionRequest> =
      encoded.length > INLINE_BYTES_MAX ? { manifestArtifact: await this.#store(encoded, MANIFEST_MEDIA_TYPE) } : { manifest };
    const answer = await withRetry(async () => await this.#client.workspace.createRevision({ ...request, label, parentId: parent }, { signal }), { signal });
    return answer.revision as Revision;
  }

  /** Entries, by index, whose content is to be put: those that the server says it lacks, and the others that it surely or probably lacks. */
  #wanted(error: unknown, lists: number): number[] {
    if (!(error instanceof ForgeError) || error.reason !== "ARTIFACT_MISSING") throw error;
    const listed = new Set(error.detail.relatedIds);
    const byHash = new Map<string, number>();
    for (const [index, { sha256 }] of this.#entries.entries()) if (sha256 !== "" && !byHash.has(sha256)) byHash.set(sha256, index);
    // Asking for what was put, or for what nobody named, would go on for ever.
    if (![...listed].some((sha256) => byHash.has(sha256) && !this.#present.has(sha256))) throw error;
    const order = [...byHash.keys()];
    const last = order.findLastIndex((sha256) => listed.has(sha256));
    // They are listed in order: what comes before the last of them and is not among them is there.
    for (const sha256 of order.slice(0, last + 1)) if (!listed.has(sha256)) this.#present.add(sha256);
    const rest = order.slice(last + 1).filter((sha256) => !this.#present.has(sha256));
    const missing = Number(error.detail.metadata.missing_count ?? 0) - listed.size;
    const takesRest = missing * 2 >= rest.length || lists >= LISTS_MAX;
    return [...listed, ...(takesRest ? rest : [])].flatMap((sha256) => byHash.get(sha256) ?? []);
  }

  /** Puts what is in the file now, and the manifest says that. */
  async #put(index: number, filesTotal: number): Promise<void> {
    stopIfAborted(this.#options.signal);
    const entry = this.#entries[index] as Entry;
    const { mode, size, sha256, content } = await this.#read(entry.path);
    this.#entries[index] = { ...entry, mode, size, sha256 };
    await this.#store(content as Buffer, MEDIA_TYPE, sha256);
    this.#present.add(sha256);
    this.#files++;
    this.#bytes += Number(size);
    this.#options.onProgress?.({ phase: "putting", files: this.#files, bytes: this.#bytes, filesTotal });
  }

  async #read(path: string): Promise<FileState> {
    const { signal } = this.#options;
    try {
      return await inParentOf(this.#root, path, async (parent, name) => {
        const handle = await openFile(parent.at(name));
        try {
          if (!(await handle.stat()).isFile()) throw changed(path);
          return await readFile(handle, { path, keepsContent: true, checkSize: (size) => checkedSize(path, size), signal });
        } finally {
          await handle.close();
        }
      });
    } catch (error) {
      throw ["ENOENT", "ENOTDIR", "ELOOP", "EMLINK", "ENXIO"].includes(codeOf(error)) ? changed(path, error) : fileError(error, path);
    }
  }

  async #store(content: Uint8Array, mediaType: string, sha256: string = createHash("sha256").update(content).digest("hex")) {
    const { signal } = this.#options;
    const { artifact } = await withRetry(async () => await this.#client.artifact.putArtifact({ content, mediaType, sha256 }, { signal }), { signal });
    return artifact;
  }
}

function changed(path: string, cause?: unknown): ForgeError {
  return new ForgeError(ErrorCode.CONFLICT, `${quoted(path)} was a file, and is none any more: something changes the directory while it is captured`, {
    reason: "FILE_CHANGING",
    retryable: true,
    origin: "client",
    metadata: { path },
    cause,
  });
}
