import { closeSync, fstatSync, ftruncateSync, openSync, readSync, renameSync, writeSync } from "node:fs";

/** Where a content is in the pack: offset and length in bytes. */
export type PackedContent = readonly [offset: number, length: number];

/** Of what nothing refers to any more, beyond which the pack is written anew. */
const WASTE_BYTES_MAX = 64 * 1024 * 1024;

/** Contents of files by their hash, one after the other in one file: a file for each would take as long as everything else together. */
export class ContentPack {
  readonly #path: string;
  readonly #bytesMax: number;
  #index: Map<string, PackedContent>;
  #descriptor: number;
  #size: number;

  /** `index`: what the pack is known to hold; what is behind it was written by somebody who could not finish, and goes. */
  constructor(path: string, bytesMax: number, index: Iterable<readonly [string, PackedContent]> = []) {
    this.#path = path;
    this.#bytesMax = bytesMax;
    this.#descriptor = openSync(path, "a+", 0o600);
    const found = fstatSync(this.#descriptor).size;
    this.#index = new Map([...index].filter(([, [offset, length]]) => offset + length <= found));
    this.#size = Math.max(0, ...[...this.#index.values()].map(([offset, length]) => offset + length));
    ftruncateSync(this.#descriptor, this.#size);
  }

  entries(): Iterable<readonly [string, PackedContent]> {
    return this.#index;
  }

  has(sha256: string): boolean {
    return this.#index.has(sha256);
  }

  /** False where there is no more room, also on the disk. */
  add(sha256: string, content: Uint8Array): boolean {
    if (this.#index.has(sha256)) return true;
    if (this.#size + content.length > this.#bytesMax) return false;
    const offset = this.#size;
    try {
      for (let written = 0; written < content.length; ) written += writeSync(this.#descriptor, content, written);
    } catch {
      // The disk is full, most likely: what was written of it goes, and the file counts as one that could not be kept.
      ftruncateSync(this.#descriptor, offset);
      return false;
    }
    this.#size += content.length;
    this.#index.set(sha256, [offset, content.length]);
    return true;
  }

  get(sha256: string): Buffer | undefined {
    const place = this.#index.get(sha256);
    if (place === undefined) return undefined;
    const content = Buffer.alloc(place[1]);
    for (let read = 0; read < content.length; ) {
      const bytes = readSync(this.#descriptor, content, read, content.length - read, place[0] + read);
      if (bytes === 0) return undefined;
      read += bytes;
    }
    return content;
  }

  /** Forgets what is not among the live ones, and gives their room back once it is worth it. */
  retain(live: ReadonlySet<string>): void {
    let liveBytes = 0;
    for (const [sha256, [, length]] of this.#index) if (live.has(sha256)) liveBytes += length;
    if (this.#size - liveBytes <= Math.min(WASTE_BYTES_MAX, this.#bytesMax / 4)) return;
    const next = `${this.#path}.new`;
    const descriptor = openSync(next, "w+", 0o600);
    const index = new Map<string, PackedContent>();
    let size = 0;
    for (const sha256 of this.#index.keys()) {
      const content = live.has(sha256) ? this.get(sha256) : undefined;
      if (content === undefined) continue;
      for (let written = 0; written < content.length; ) written += writeSync(descriptor, content, written, content.length - written, size + written);
      index.set(sha256, [size, content.length]);
      size += content.length;
    }
    closeSync(descriptor);
    renameSync(next, this.#path);
    closeSync(this.#descriptor);
    this.#descriptor = openSync(this.#path, "a+", 0o600);
    this.#index = index;
    this.#size = size;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
