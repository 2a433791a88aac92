import { randomUUID } from "node:crypto";
import { Batcher } from "@forge/core";
import type { AppendOutcome, Store, StreamAppend } from "@forge/engine/ports";
import { measure, Turnstile } from "../load.ts";
import { type BenchStream, DIGEST, EVENT, EVENT_KIND, IN_FLIGHT, newStreams, RESULT, RESULT_TYPE } from "./contents.ts";
import type { AppendWorkload } from "./workload.ts";

const LISTING = { status: "SESSION_STATUS_CLOSED", detailStatus: "", title: "", subject: "", version: "", labels: {}, approvals: [] };

function appendOf(namespace: string, stream: BenchStream): StreamAppend {
  const seq = stream.seq + 1;
  return {
    namespace,
    streamId: stream.id,
    kind: "session",
    expectedSeq: stream.seq,
    events: [{ seq, kind: EVENT_KIND, bytes: EVENT }],
    deltas: false,
    commands: [{ commandId: randomUUID(), digest: DIGEST, seq, resultType: RESULT_TYPE, result: RESULT }],
    requires: [],
    settles: [],
    starts: [],
    addTasks: [],
    removeTasks: [],
    cancelTasks: [],
    listing: stream.seq === 0 ? LISTING : undefined,
    artifacts: [],
  };
}

/** The engine's own statement and batching without the engine: what is left when nothing is decided, stamped or encoded. */
export function batchedAppends(store: Store): AppendWorkload {
  // As the engine does it: one batch is built while the other commits.
  const batcher = new Batcher<StreamAppend, AppendOutcome>((appends) => store.append(appends), { concurrency: 2, batchMax: 256 });
  const append = async (namespace: string, stream: BenchStream): Promise<void> => {
    const { outcome } = await batcher.submit(appendOf(namespace, stream));
    if (outcome !== "ok") throw new Error(`an append of the batched baseline was ${outcome}`);
    stream.seq++;
  };
  return {
    name: "batched appends",
    async round(namespace, extent) {
      const streams = newStreams();
      await Promise.all(streams.map((stream) => append(namespace, stream)));
      const turnstile = new Turnstile(streams);
      return await measure(IN_FLIGHT, extent, () => turnstile.use((stream) => append(namespace, stream)));
    },
  };
}
