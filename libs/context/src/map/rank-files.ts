import type { ReferenceGraph } from "./reference-graph.ts";

/** How much of a rank goes on to what a file names; the rest starts anew at every file. */
const DAMPING = 0.85;
const ROUNDS_MAX = 20;
/** What still moves in one round, of 1, when the ranks are good enough. */
const CHANGE_MIN = 1e-4;
/** What is named in a message counts this much more, and so does a name that tells nothing, less. */
const MENTIONED_FACTOR = 10;
const COMMON_FACTOR = 0.1;
/** A name that more files define is common. */
const COMMON_DEFINERS = 5;
/** Of what starts anew, what starts at the files that a message names. */
const MENTIONED_SHARE = 0.5;

export interface Ranks {
  /** Of each file. */
  readonly files: Float64Array;
  /** Of each name, to be divided among those that define it. */
  readonly names: Float64Array;
}

/**
 * Ranks files by who names what they define, as PageRank ranks pages by their links, starting at the files that a message names. After the repository map of
 * aider (https://aider.chat/docs/repomap.html, aider/repomap.py), with its factors; a rank here flows from a file to the names in it and on to the files that
 * define them, which comes to the same and costs as many steps as there are names, not pairs of files.
 */
export function rankFiles(graph: ReferenceGraph, mentionedFiles: ReadonlySet<number>, mentionedNames: ReadonlySet<number>): Ranks {
  const count = graph.files.length;
  const namers = namersOf(graph);
  const weights = Float64Array.from(graph.weights, (weight, id) => {
    const common = (graph.definers[id] as number) > COMMON_DEFINERS ? COMMON_FACTOR : 1;
    // A word that stands in most files, such as a keyword, tells nothing by standing there: the inverse document frequency of text search.
    const rarity = Math.log(1 + count / (1 + (namers[id] as number))) / Math.log(1 + count);
    return (weight / 10) * common * rarity ** 2 * (mentionedNames.has(id) ? MENTIONED_FACTOR : 1);
  });
  const start = new Float64Array(count).fill((mentionedFiles.size === 0 ? 1 : 1 - MENTIONED_SHARE) / count);
  for (const file of mentionedFiles) start[file] = (start[file] as number) + MENTIONED_SHARE / mentionedFiles.size;
  const totals = totalWeights(graph, weights);
  let ranks = Float64Array.from(start);
  const names = new Float64Array(weights.length);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    names.fill(0);
    let dangling = 0;
    for (let file = 0; file < count; file++) {
      const total = totals[file] as number;
      const rank = ranks[file] as number;
      if (total === 0) dangling += rank;
      else
        for (let at = graph.namedStarts[file] as number; at < (graph.namedStarts[file + 1] as number); at++) {
          const name = graph.named[at] as number;
          names[name] = (names[name] as number) + (rank * (weights[name] as number)) / total;
        }
    }
    const next = new Float64Array(count);
    let change = 0;
    for (let file = 0; file < count; file++) {
      let flow = 0;
      for (let at = graph.definedStarts[file] as number; at < (graph.definedStarts[file + 1] as number); at++) {
        const name = graph.defined[at] as number;
        flow += (names[name] as number) / (graph.definers[name] as number);
      }
      next[file] = (1 - DAMPING) * (start[file] as number) + DAMPING * (flow + dangling * (start[file] as number));
      change += Math.abs((next[file] as number) - (ranks[file] as number));
    }
    ranks = next;
    if (change < CHANGE_MIN) break;
  }
  return { files: ranks, names };
}

/** How many files name each name. */
function namersOf(graph: ReferenceGraph): Uint32Array {
  const namers = new Uint32Array(graph.weights.length);
  for (const name of graph.named) namers[name] = (namers[name] as number) + 1;
  return namers;
}

function totalWeights(graph: ReferenceGraph, weights: Float64Array): Float64Array {
  const totals = new Float64Array(graph.files.length);
  for (let file = 0; file < totals.length; file++)
    for (let at = graph.namedStarts[file] as number; at < (graph.namedStarts[file + 1] as number); at++)
      totals[file] = (totals[file] as number) + (weights[graph.named[at] as number] as number);
  return totals;
}
