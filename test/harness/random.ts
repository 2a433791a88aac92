/** Random numbers that a seed brings back (mulberry32, by Tommy Ettinger). */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number in [from, to). */
  between(from: number, to: number): number;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, between: (from, to) => from + Math.floor(next() * (to - from)) };
}
