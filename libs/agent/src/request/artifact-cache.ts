/** Of all kept contents: a few turns' pictures. */
const BYTES_MAX = 64 * 1024 * 1024;

/**
 * Contents of files that models were shown lately, so that each call of a turn does not fetch them again. Content never changes under its SHA-256. What was used
 * longest ago goes first; losing it costs a read.
 */
export class ArtifactCache {
  readonly #kept = new Map<string, Uint8Array>();
  #bytes = 0;

  /** The content, loaded where it is not kept. */
  async get(sha256: string, load: (sha256: string) => Promise<Uint8Array>): Promise<Uint8Array> {
    const content = this.#kept.get(sha256) ?? (await load(sha256));
    this.#remove(sha256);
    if (content.length > BYTES_MAX) return content;
    this.#kept.set(sha256, content);
    this.#bytes += content.length;
    for (const [oldest] of this.#kept) {
      if (this.#bytes <= BYTES_MAX) break;
      this.#remove(oldest);
    }
    return content;
  }

  #remove(sha256: string): void {
    this.#bytes -= this.#kept.get(sha256)?.length ?? 0;
    this.#kept.delete(sha256);
  }
}
