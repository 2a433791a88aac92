/**
 * A list of which a change copies a small part, so that an event of a run with ten thousand steps costs what one of a run with ten does. Plain data, as all
 * of a state: it is read and changed by the functions below.
 */
export interface Chunks<T> {
  readonly length: number;
  /** Items of the first chunk that were taken away from the front. */
  readonly taken: number;
  /** Each of CHUNK items, but for the last, which may have fewer. */
  readonly chunks: readonly (readonly T[])[];
}

const CHUNK = 128;

export function chunksOf<T>(items: readonly T[]): Chunks<T> {
  const chunks = Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, index) => items.slice(index * CHUNK, (index + 1) * CHUNK));
  return { length: items.length, taken: 0, chunks };
}

/** The item at an index; undefined outside of the list. */
export function itemAt<T>({ length, taken, chunks }: Chunks<T>, index: number): T | undefined {
  if (index < 0 || index >= length) return undefined;
  const at = index + taken;
  return chunks[Math.floor(at / CHUNK)]?.[at % CHUNK];
}

/** The list with another item at an index that it has. */
export function withItem<T>(list: Chunks<T>, index: number, item: T): Chunks<T> {
  const at = index + list.taken;
  const place = Math.floor(at / CHUNK);
  const chunk = list.chunks[place];
  if (chunk === undefined || index < 0 || index >= list.length) throw new Error(`a list of ${list.length} has no item at ${index}`);
  return { ...list, chunks: list.chunks.with(place, chunk.with(at % CHUNK, item)) };
}

/** The list with an item more at its end. */
export function withLast<T>({ length, taken, chunks }: Chunks<T>, item: T): Chunks<T> {
  const last = chunks.at(-1);
  const grown = last === undefined || last.length === CHUNK ? [...chunks, [item]] : chunks.with(chunks.length - 1, [...last, item]);
  return { length: length + 1, taken, chunks: grown };
}

/** The list without its first item. */
export function withoutFirst<T>({ length, taken, chunks }: Chunks<T>): Chunks<T> {
  if (length <= 1) return chunksOf<T>([]);
  return taken + 1 === CHUNK ? { length: length - 1, taken: 0, chunks: chunks.slice(1) } : { length: length - 1, taken: taken + 1, chunks };
}

/** All of it, in order. */
export function allOf<T>({ taken, chunks }: Chunks<T>): readonly T[] {
  return chunks.flat(1).slice(taken);
}
