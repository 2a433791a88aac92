import type { Store } from "@forge/engine/ports";

/** What was written to a store because of commands and their consequences; what it does by the clock (heartbeats, expired leases) is left out. */
export interface Writes {
  /** Statements that append, each a commit: a batch's appends and its creates are two. */
  readonly appendCommits: number;
  /** Streams' appends of events, batched or not. */
  readonly appends: number;
  /** Streams' appends of pieces of output. */
  readonly deltaAppends: number;
  /** Other commits: pruned output, snapshots, artifacts, leases of tasks that found no worker at once. */
  readonly otherCommits: number;
}

export function difference(after: Writes, before: Writes): Writes {
  return {
    appendCommits: after.appendCommits - before.appendCommits,
    appends: after.appends - before.appends,
    deltaAppends: after.deltaAppends - before.deltaAppends,
    otherCommits: after.otherCommits - before.otherCommits,
  };
}

/** A store that counts its writes. */
export interface CountingStore {
  readonly store: Store;
  writes(): Writes;
}

export function countWrites(inner: Store): CountingStore {
  let [appendCommits, appends, deltaAppends, otherCommits] = [0, 0, 0, 0];
  const store: Store = {
    ...inner,
    append: (batch) => {
      const creates = batch.filter(({ expectedSeq }) => expectedSeq === 0).length;
      appendCommits += (creates > 0 ? 1 : 0) + (creates < batch.length ? 1 : 0);
      for (const { deltas } of batch) {
        if (deltas) deltaAppends++;
        else appends++;
      }
      return inner.append(batch);
    },
    pruneDeltas: (...through) => {
      otherCommits++;
      return inner.pruneDeltas(...through);
    },
    saveSnapshot: (...snapshot) => {
      otherCommits++;
      return inner.saveSnapshot(...snapshot);
    },
    putArtifact: (...artifact) => {
      otherCommits++;
      return inner.putArtifact(...artifact);
    },
    leaseTasks: async (request) => {
      const tasks = await inner.leaseTasks(request);
      if (tasks.length > 0) otherCommits++;
      return tasks;
    },
  };
  return { store, writes: () => ({ appendCommits, appends, deltaAppends, otherCommits }) };
}
