import { randomUUID } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { Placement } from "@forge/core";
import type { Store, StoredTask } from "@forge/engine/ports";
import { type CommandRequest, EVENT_FORMATS, StreamEngine, sha256 } from "@forge/engine/stream";
import { type StartTurnRequest, StartTurnRequestSchema, StartTurnResponseSchema } from "@forge/protocol/session";
import { measure, Turnstile } from "../load.ts";
import { benchAggregate, FILLER } from "./bench-aggregate.ts";
import { type BenchStream, IN_FLIGHT, newStreams } from "./contents.ts";
import type { AppendWorkload } from "./workload.ts";

const TURN_ID = randomUUID();

function requestOf(namespace: string, { id, seq }: BenchStream): CommandRequest {
  const commandId = randomUUID();
  const command: StartTurnRequest = create(StartTurnRequestSchema, {
    header: { version: { major: 1, minor: 0 }, commandId },
    sessionId: id,
    input: [{ kind: { case: "text", value: { text: FILLER } } }],
  });
  return {
    namespace,
    principal: "bench",
    kind: "session",
    streamId: id,
    creates: seq === 0,
    command,
    commandId,
    digest: sha256(toBinary(StartTurnRequestSchema, command)),
    expectedSeq: undefined,
    correlationId: "",
    causationId: "",
    proofs: [],
    resultSchema: StartTurnResponseSchema,
  };
}

/** Commands through the engine in this process: decided, stamped, encoded, appended, and told to the other replicas. */
export function engineCommands(store: Store): AppendWorkload {
  const aggregate = benchAggregate(TURN_ID);
  const engine = new StreamEngine({
    store,
    aggregates: { session: aggregate, run: aggregate, concurrency: aggregate },
    placement: new Placement<StoredTask>(),
    replica: "bench",
    leaseTtlMs: 15_000,
    cacheMax: 10_000,
    nowMs: () => Date.now(),
    artifactText: async () => undefined,
    knowTools: async () => undefined,
    toolsOf: () => [],
    isServed: () => false,
    knowServed: async () => undefined,
    formats: EVENT_FORMATS,
    mayWrite: async () => true,
    onUncertainAppend: () => undefined,
    onUnreadable: (_, error) => {
      throw error;
    },
    onAppended: ({ namespace, streamId, seq, unplacedRoutes }) => store.wake([{ namespace, streamId, seq, routes: unplacedRoutes }]),
    onBug: (error, where) => {
      throw new Error(`a bug in the engine: ${where}`, { cause: error });
    },
  });
  const execute = async (namespace: string, stream: BenchStream): Promise<void> => {
    const { seq } = await engine.execute(requestOf(namespace, stream));
    if (seq !== stream.seq + 1) throw new Error(`the engine answered seq ${seq} after ${stream.seq}`);
    stream.seq = seq;
  };
  return {
    name: "engine commands",
    async round(namespace, extent) {
      const streams = newStreams();
      await Promise.all(streams.map((stream) => execute(namespace, stream)));
      const turnstile = new Turnstile(streams);
      return await measure(IN_FLIGHT, extent, () => turnstile.use((stream) => execute(namespace, stream)));
    },
  };
}
