import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { type Entry, ManifestSchema } from "@forge/protocol/workspace";

/** Of one page, encoded: what every client takes in one message by itself. */
const PAGE_BYTES_MAX = 1024 * 1024;

interface ManifestPage {
  readonly entries: readonly Entry[];
  /** Empty: there are no more. */
  readonly nextAfterPath: string;
}

/**
 * The entries of an encoded manifest that come after a path, at most so many and 1 MiB of them. Only those of the page are decoded: a manifest may have 200,000.
 * `encoded` is a manifest as the engine keeps it, checked and with its fields in order.
 */
export function manifestPage(encoded: Uint8Array, afterPath: string, pageSize: number): ManifestPage {
  const after = Buffer.from(afterPath);
  const reader = new BinaryReader(encoded);
  let [start, end, count] = [encoded.length, encoded.length, 0];
  while (reader.pos < reader.len) {
    const at = reader.pos;
    reader.tag();
    const entry = reader.bytes();
    if (count === 0 && afterPath !== "" && Buffer.compare(pathOf(entry), after) <= 0) continue;
    if (count > 0 && (count === pageSize || reader.pos - start > PAGE_BYTES_MAX)) {
      end = at;
      break;
    }
    if (count === 0) start = at;
    count++;
  }
  const { entries } = fromBinary(ManifestSchema, encoded.subarray(start, end));
  return { entries, nextAfterPath: end < encoded.length ? (entries.at(-1)?.path ?? "") : "" };
}

/** Every entry has a path, and it comes first. */
function pathOf(entry: Uint8Array): Uint8Array {
  const reader = new BinaryReader(entry);
  reader.tag();
  return reader.bytes();
}
