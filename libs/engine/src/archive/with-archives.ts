import { fromBinary } from "@bufbuild/protobuf";
import { Lru } from "@forge/core";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type ArchivePart, type StreamArchive, StreamArchiveSchema } from "@forge/protocol/engine";
import type { EventPage, Store, StoredEvent } from "../ports/index.ts";
import { unpack } from "./pack.ts";

/** Archives that are being read; each holds at most one small part. */
const ARCHIVES_MAX = 16;
/** Unpacked parts: whoever reads a long run page by page needs the same one again. */
const PARTS_MAX = 4;

/** The same store, whose reads of events answer from the archive where a stream has been archived. Errors of such a read: storage_error, ARCHIVE_MISSING, ARTIFACT_DAMAGED. */
export function withArchives(store: Store): Store {
  const archives = new ArchiveReader(store);
  return {
    ...store,
    readEvents: async (namespace, streamId, range) => {
      const page = await store.readEvents(namespace, streamId, range);
      return page.archive === undefined ? page : { ...page, events: await archives.read(namespace, page.archive, range) };
    },
  };
}

class ArchiveReader {
  readonly #store: Pick<Store, "getArtifact">;
  readonly #archives = new Lru<StreamArchive>(ARCHIVES_MAX);
  readonly #parts = new Lru<readonly StoredEvent[]>(PARTS_MAX);

  constructor(store: Pick<Store, "getArtifact">) {
    this.#store = store;
  }

  async read(namespace: string, sha256: string, range: Parameters<Store["readEvents"]>[2]): Promise<EventPage["events"]> {
    const throughSeq = range.throughSeq ?? Number.MAX_SAFE_INTEGER;
    const found: StoredEvent[] = [];
    for (const [index, part] of (await this.#archive(namespace, sha256)).parts.entries()) {
      if (found.length >= range.limit || part.firstSeq > BigInt(throughSeq)) break;
      if (part.lastSeq <= BigInt(range.afterSeq)) continue;
      const events = await this.#part(namespace, `${namespace}\n${sha256}\n${index}`, part);
      const isAsked = ({ seq, kind }: StoredEvent) => seq > range.afterSeq && seq <= throughSeq && (range.kinds?.includes(kind) ?? true);
      found.push(...events.filter(isAsked).slice(0, range.limit - found.length));
    }
    return found;
  }

  async #archive(namespace: string, sha256: string): Promise<StreamArchive> {
    const key = `${namespace}\n${sha256}`;
    const archive = this.#archives.get(key) ?? fromBinary(StreamArchiveSchema, await this.#content(namespace, sha256));
    this.#archives.set(key, archive);
    return archive;
  }

  async #part(namespace: string, key: string, { content }: ArchivePart): Promise<readonly StoredEvent[]> {
    const known = this.#parts.get(key);
    if (known !== undefined) return known;
    if (content.case === undefined) throw new Error("a part of an archive has no content");
    const events = await unpack(content.case === "packed" ? content.value : await this.#content(namespace, content.value));
    this.#parts.set(key, events);
    return events;
  }

  async #content(namespace: string, sha256: string): Promise<Uint8Array> {
    const stored = await this.#store.getArtifact(namespace, sha256);
    if (stored !== undefined) return stored.content;
    throw new ForgeError(ErrorCode.STORAGE_ERROR, `the artifact ${sha256}, which holds an archived run, is gone: restore it from a backup`, {
      reason: "ARCHIVE_MISSING",
      origin: "control-plane",
      retryable: false,
      relatedIds: [sha256],
    });
  }
}
