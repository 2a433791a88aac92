import { type ConnectClient, commandHeader, createConnectClient } from "@forge/client";
import type { TaskLease } from "@forge/protocol/common";
import { CapabilityKind, type LeasedTask } from "@forge/protocol/worker";
import type { Fleet } from "../server/fleet.ts";
import type { Subject } from "./subject.ts";

/** Writes pieces of output to one stream, a hundred in a call. */
export interface OutputWriter {
  readonly streamId: string;
  /** Resolves once all are acknowledged. */
  write(count: number): Promise<void>;
  close(): Promise<void>;
}

const TEXT = "the quick brown fox ";
const LEASE_MS_MAX = 10_000;

function writerOf(client: ConnectClient, workerSessionId: string, lease?: TaskLease): OutputWriter["write"] {
  let offset = 0;
  return async (count) => {
    const deltas = Array.from({ length: count }, (_, index) => ({
      ...(lease !== undefined && { lease }),
      kind: { case: "turn" as const, value: { offset: BigInt(offset + index * TEXT.length), channel: { case: "text" as const, value: TEXT } } },
    }));
    offset += count * TEXT.length;
    const { answers } = await client.worker.reportOutput({ workerSessionId, deltas });
    const refused = answers.find(({ error }) => error !== undefined)?.error;
    if (refused !== undefined) throw new Error(`output was refused: ${refused.message}`);
  };
}

export async function openBareWriter(subject: Subject): Promise<OutputWriter> {
  const [streamId] = (await subject.open(1)) as [string];
  return { streamId, write: writerOf(subject.client, streamId), close: () => Promise.resolve() };
}

/** A worker that holds the model call of a turn, and says that it lives until it is closed. */
export async function openOutputWriter(fleet: Fleet): Promise<OutputWriter> {
  const client = createConnectClient({ url: fleet.url, token: fleet.workerToken });
  const stop = new AbortController();
  const { workerSessionId } = await client.worker.register({
    version: { major: 1, minor: 0 },
    workerName: "bench-output",
    queues: ["default"],
    capabilities: [{ kind: CapabilityKind.MODEL, name: "bench/*" }],
    slots: 1,
  });
  const { sessionId } = await fleet.client.session.createSession({ header: commandHeader(), agent: { model: "bench/output" } });
  await fleet.client.session.startTurn({ header: commandHeader(), sessionId, input: [{ kind: { case: "text", value: { text: "write" } } }] });
  const { tasks } = await client.worker.leaseTasks({ workerSessionId, slots: 1, wait: { seconds: BigInt(LEASE_MS_MAX / 1000) } });
  const [{ taskId, epoch, leaseToken }] = tasks as [LeasedTask];
  const lease = { $typeName: "forge.common.v1.TaskLease" as const, taskId, epoch, leaseToken };
  const { answers } = await client.worker.startTasks({ workerSessionId, starts: [{ lease, kind: { case: "model", value: {} } }] });
  if (answers[0]?.error !== undefined) throw new Error(`the model call could not start: ${answers[0].error.message}`);
  const beating = (async () => {
    while (!stop.signal.aborted) await client.worker.heartbeat({ workerSessionId, held: [lease] }, { signal: stop.signal });
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    streamId: sessionId,
    write: writerOf(client, workerSessionId, lease),
    close: async () => {
      stop.abort();
      await beating;
      await client.close();
    },
  };
}
