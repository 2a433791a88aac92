import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type ArchivedEvent, ArchivedEventSchema, ArchivedEventsSchema, type ArchivePart, ArchivePartSchema } from "@forge/protocol/engine";
import type { StoredEvent } from "../ports/index.ts";

/** Uncompressed bytes after which a part is full: below what an artifact takes even where nothing compresses, and little enough to be read for one page. */
const PART_BYTES = 4 * 1024 * 1024;
/** A part is full with its last event, and no event comes near this. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** A part before it is decided where its bytes are kept. */
export interface Packed {
  readonly part: ArchivePart;
  readonly bytes: Uint8Array;
}

/** Takes events in their order and packs them; the same events make the same parts. */
export class Packer {
  #events: ArchivedEvent[] = [];
  #bytes = 0;

  /** The part that became full with this event, if one did. */
  async add({ seq, kind, bytes }: StoredEvent): Promise<Packed | undefined> {
    this.#events.push(create(ArchivedEventSchema, { seq: BigInt(seq), kind, event: bytes }));
    this.#bytes += bytes.length;
    return this.#bytes < PART_BYTES ? undefined : this.end();
  }

  /** What is not packed yet; undefined: nothing. */
  async end(): Promise<Packed | undefined> {
    const events = this.#events;
    const [first, last] = [events[0], events.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    this.#events = [];
    this.#bytes = 0;
    const bytes = await compress(toBinary(ArchivedEventsSchema, create(ArchivedEventsSchema, { events })));
    return { part: create(ArchivePartSchema, { firstSeq: first.seq, lastSeq: last.seq, eventCount: events.length }), bytes };
  }
}

/** The events of a part. Throws where the bytes are none. */
export async function unpack(bytes: Uint8Array): Promise<readonly StoredEvent[]> {
  const { events } = fromBinary(ArchivedEventsSchema, await decompress(bytes, { maxOutputLength: UNPACKED_BYTES_MAX }));
  return events.map(({ seq, kind, event }) => ({ seq: Number(seq), kind, bytes: event }));
}
