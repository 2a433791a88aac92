import { byteLength, cutMiddle } from "./cut.ts";

const SEPARATOR = "\n\n";

/** An entry keeps at least this much, so that it still says what it is. */
const ENTRY_BYTES_MIN = 200;

/** The entries in order, as few texts of at most so many bytes as hold them; an entry that is larger alone loses its middle. */
export function packChunks(entries: readonly string[], bytesMax: number): string[][] {
  const chunks: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const whole = cutMiddle(entry, bytesMax);
    const added = byteLength(whole) + SEPARATOR.length;
    if (size + added > bytesMax + SEPARATOR.length) {
      chunks.push([]);
      size = 0;
    }
    chunks.at(-1)?.push(whole);
    size += added;
  }
  return chunks;
}

/** A chunk as one text. */
export function joinChunk(entries: readonly string[]): string {
  return entries.join(SEPARATOR);
}

/** Two halves of a chunk; an entry that stands alone is cut in two in its middle, so that nothing is lost. */
export function halve(entries: readonly string[]): [string[], string[]] {
  if (entries.length > 1) {
    const middle = Math.ceil(entries.length / 2);
    return [entries.slice(0, middle), entries.slice(middle)];
  }
  const characters = Array.from(entries[0] ?? "");
  const middle = Math.ceil(characters.length / 2);
  return [[characters.slice(0, middle).join("")], [characters.slice(middle).join("")]];
}

/** The entries with the long ones cut until all together hold at most so many bytes; where even that is not enough, the middle ones are left out. */
export function fitEntries(entries: readonly string[], bytesMax: number): string[] {
  const sizes = entries.map(byteLength);
  const total = (cap: number): number => sizes.reduce((sum, size) => sum + Math.min(size, cap) + SEPARATOR.length, 0);
  let cap = bytesMax;
  while (cap > ENTRY_BYTES_MIN && total(cap) > bytesMax) cap = Math.max(ENTRY_BYTES_MIN, Math.floor(cap / 2));
  const cut = entries.map((entry) => cutMiddle(entry, cap));
  if (total(cap) <= bytesMax) return cut;
  const kept = Math.floor(bytesMax / (ENTRY_BYTES_MIN + SEPARATOR.length));
  const head = Math.ceil(kept / 2);
  const tail = kept - head;
  return [...cut.slice(0, head), `[${cut.length - kept} messages left out]`, ...cut.slice(cut.length - tail)];
}
