import type { Execution } from "./execution.ts";

/**
 * The open executions of a run in the order of their indexes, in chunks of neighbours that know what is among them: so that an event of a run with thousands of
 * them copies one chunk and looks into few. Plain data, as all of a state: it is read and changed by the functions below.
 */
export interface Executions extends Counts {
  readonly chunks: readonly ExecutionChunk[];
}

/** At least one execution; all of those whose indexes have the same quotient by CHUNK. */
interface ExecutionChunk extends Counts {
  readonly items: readonly Execution[];
}

interface Counts {
  readonly length: number;
  /** Those that take a place of the run's limit: work, not the lists that it belongs to, and not what only waits. */
  readonly busy: number;
  /** The lists themselves. */
  readonly lists: number;
  /** Those that were asked to stop. */
  readonly asked: number;
}

const CHUNK = 64;

export const NO_EXECUTIONS: Executions = { length: 0, busy: 0, lists: 0, asked: 0, chunks: [] };

/** All of them, in order. */
export function allExecutions({ chunks }: Executions): readonly Execution[] {
  return chunks.flatMap(({ items }) => items);
}

/** The one with an index. */
export function executionIn({ chunks }: Executions, executionIndex: number): Execution | undefined {
  return chunkOf(chunks, executionIndex).items.find((execution) => execution.executionIndex === executionIndex);
}

/** With an execution that is new, or takes the place of the one with its index. */
export function withExecution(executions: Executions, execution: Execution): Executions {
  const { executionIndex } = execution;
  const { place, items } = chunkOf(executions.chunks, executionIndex);
  const before = items.filter((each) => each.executionIndex < executionIndex);
  const after = items.filter((each) => each.executionIndex > executionIndex);
  return withItems(executions, place, items, [...before, execution, ...after]);
}

/** Without the one with an index. */
export function withoutExecution(executions: Executions, executionIndex: number): Executions {
  const { place, items } = chunkOf(executions.chunks, executionIndex);
  return withItems(
    executions,
    place,
    items,
    items.filter((each) => each.executionIndex !== executionIndex),
  );
}

/** With what `change` makes of each; chunks in which nothing changes stay the same objects. */
export function withEach(executions: Executions, change: (execution: Execution) => Execution): Executions {
  return executions.chunks.reduce((after, { items }, place) => {
    const changed = items.map(change);
    return changed.every((each, index) => each === items[index]) ? after : withItems(after, place, items, changed);
  }, executions);
}

/** The lists, in order. */
export function listsIn(executions: Executions): readonly Execution[] {
  return among(executions, ({ lists }) => lists > 0).filter(({ group }) => group !== undefined);
}

/** Those that were asked to stop, in order. */
export function askedIn(executions: Executions): readonly Execution[] {
  return among(executions, ({ asked }) => asked > 0).filter(({ stopSeq }) => stopSeq > 0);
}

/** What an execution waits for in another place, and is found by. A signal and an approval count only as long as nobody asked it to stop. */
type Awaited = "signal" | "approval" | "session" | "run" | "call";

/** The first that waits for this. */
export function executionAwaiting({ chunks }: Executions, awaited: Awaited, name: string): Execution | undefined {
  if (name === "") return undefined;
  const key = `${awaited}:${name}`;
  for (const chunk of chunks) {
    const found = awaitedIn(chunk).get(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What is made of a chunk, made once for as long as nothing in it changes: of the rest only what never changes may count. */
export function perChunk<T, Rest extends readonly unknown[]>(
  make: (items: readonly Execution[], ...rest: Rest) => T,
): (chunk: ExecutionChunk, ...rest: Rest) => T {
  const known = new WeakMap<ExecutionChunk, { readonly made: T }>();
  return (chunk, ...rest) => {
    const before = known.get(chunk);
    if (before !== undefined) return before.made;
    const made = make(chunk.items, ...rest);
    known.set(chunk, { made });
    return made;
  };
}

const awaitedIn = perChunk((items) => {
  const found = new Map<string, Execution>();
  const add = (execution: Execution, awaited: Awaited, name: string | undefined): void => {
    const key = `${awaited}:${name}`;
    if (name && !found.has(key)) found.set(key, execution);
  };
  for (const execution of items) {
    const { wait, stopSeq, sessionId, childRunId, call } = execution;
    if (stopSeq === 0) add(execution, "signal", wait?.signal);
    if (stopSeq === 0) add(execution, "approval", wait?.approvalId);
    add(execution, "session", sessionId);
    add(execution, "run", childRunId);
    add(execution, "call", call?.toolCallId);
  }
  return found;
});

function among({ chunks }: Executions, mayHold: (chunk: ExecutionChunk) => boolean): readonly Execution[] {
  return chunks.flatMap((chunk) => (mayHold(chunk) ? chunk.items : []));
}

function keyOf(executionIndex: number): number {
  return Math.floor(executionIndex / CHUNK);
}

/** Where the chunk of an index stands, and what is in it; nothing where there is none, which is to stand there. */
function chunkOf(chunks: readonly ExecutionChunk[], executionIndex: number): { readonly place: number; readonly items: readonly Execution[] } {
  const key = keyOf(executionIndex);
  const keyAt = (place: number): number => keyOf(chunks[place]?.items[0]?.executionIndex ?? Number.POSITIVE_INFINITY);
  let [place, end] = [0, chunks.length];
  while (place < end) {
    const middle = (place + end) >>> 1;
    if (keyAt(middle) < key) place = middle + 1;
    else end = middle;
  }
  return { place, items: keyAt(place) === key ? (chunks[place]?.items ?? []) : [] };
}

/** With other items in the chunk that stands at a place; an empty one stands nowhere. */
function withItems(executions: Executions, place: number, before: readonly Execution[], after: readonly Execution[]): Executions {
  const [gone, come] = [countsOf(before), countsOf(after)];
  const chunks = executions.chunks.toSpliced(place, before.length === 0 ? 0 : 1, ...(after.length === 0 ? [] : [{ items: after, ...come }]));
  return {
    length: executions.length - gone.length + come.length,
    busy: executions.busy - gone.busy + come.busy,
    lists: executions.lists - gone.lists + come.lists,
    asked: executions.asked - gone.asked + come.asked,
    chunks,
  };
}

function countsOf(items: readonly Execution[]): Counts {
  let [busy, lists, asked] = [0, 0, 0];
  for (const { group, wait, stopSeq } of items) {
    if (group !== undefined) lists++;
    else if (wait === undefined) busy++;
    if (stopSeq > 0) asked++;
  }
  return { length: items.length, busy, lists, asked };
}
