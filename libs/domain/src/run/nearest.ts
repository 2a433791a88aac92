/** Names longer than this are not compared: the work grows with the square of the length. */
const COMPARED_LENGTH_MAX = 64;

/** Candidates that are looked at. */
const CANDIDATES_MAX = 1_000;

/** The name that a person probably meant: the closest by edits, where at most a third of it (but one at least) differs. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > COMPARED_LENGTH_MAX) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(name.length / 3)) + 1;
  let seen = 0;
  for (const candidate of candidates) {
    if (++seen > CANDIDATES_MAX) break;
    if (candidate.length > COMPARED_LENGTH_MAX || Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ` (did you mean "x"?)`, or nothing. */
export function suggestion(name: string, candidates: Iterable<string>): string {
  const found = nearest(name, candidates);
  return found === undefined ? "" : ` (did you mean "${found}"?)`;
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment distance). */
function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const substitution = (previous[column - 1] as number) + (left[row - 1] === right[column - 1] ? 0 : 1);
      let distance = Math.min(substitution, (previous[column] as number) + 1, (current[column - 1] as number) + 1);
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        distance = Math.min(distance, (beforePrevious[column - 2] as number) + 1);
      }
      current.push(distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] as number;
}
