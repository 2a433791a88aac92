import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { type ArtifactRef, ArtifactRefSchema, type Value, ValueSchema } from "@forge/protocol/common";
import { type Change, ListChangesResponseSchema } from "@forge/protocol/session";
import { LeasedTaskSchema, type OutputDelta, type Task, type TaskStart } from "@forge/protocol/worker";
import type { TaskContext } from "@forge/worker";

const INLINE_BYTES_MAX = 64 * 1024;

/** A TaskContext for tests: artifacts in memory, and a record of what the handler did. */
export interface FakeTaskContext extends TaskContext {
  readonly starts: TaskStart["kind"][];
  readonly reports: OutputDelta["kind"][];
  /** By hash. */
  readonly artifacts: Map<string, Uint8Array>;
  /** What was said of its time: queued, begun. */
  readonly clock: readonly string[];
  /** How often the code said that it goes on. */
  heartbeats(): number;
  /** What the tool has printed so far, as its deltas tell. */
  printed(): string;
}

/** What a test may want to be different. */
export interface FakeTaskContextOptions {
  readonly signal?: AbortSignal;
  readonly start?: (kind: TaskStart["kind"]) => Promise<void>;
  /** What the session's tools changed, for an undo. */
  readonly changes?: readonly Change[];
  /** Those of calls before. */
  readonly artifacts?: Map<string, Uint8Array>;
  readonly onReport?: (kind: OutputDelta["kind"]) => void;
}

export function fakeTaskContext(task: Task, options: FakeTaskContextOptions = {}): FakeTaskContext {
  const starts: TaskStart["kind"][] = [];
  let heartbeats = 0;
  const clock: string[] = [];
  const reports: OutputDelta["kind"][] = [];
  const artifacts = options.artifacts ?? new Map<string, Uint8Array>();
  const putArtifact = async (content: Uint8Array, mediaType: string): Promise<ArtifactRef> => {
    const sha256 = createHash("sha256").update(content).digest("hex");
    artifacts.set(sha256, content);
    return create(ArtifactRefSchema, { sha256, size: BigInt(content.length), mediaType });
  };
  const getArtifact = async (sha256: string): Promise<Uint8Array> => {
    const content = artifacts.get(sha256);
    if (content === undefined) throw new Error(`no artifact ${sha256}`);
    return content;
  };
  return {
    starts,
    reports,
    artifacts,
    printed: () => reports.map((kind) => (kind.case === "tool" ? kind.value.text : "")).join(""),
    lease: create(LeasedTaskSchema, { taskId: "task-1", epoch: 3, task }),
    task,
    signal: options.signal ?? new AbortController().signal,
    async start(kind) {
      await options.start?.(kind);
      starts.push(kind);
    },
    heartbeats: () => heartbeats,
    queued: () => clock.push("queued"),
    begun: () => clock.push("begun"),
    clock,
    heartbeat() {
      heartbeats++;
    },
    report(kind) {
      reports.push(kind);
      options.onReport?.(kind);
    },
    readConversation: () => Promise.reject(new Error("a tool reads no conversation")),
    async listChanges({ changeIds }) {
      const changes = (options.changes ?? []).filter(({ changeId }) => changeIds.length === 0 || changeIds.includes(changeId));
      return create(ListChangesResponseSchema, { changes });
    },
    putArtifact,
    getArtifact,
    async toValue(json): Promise<Value> {
      if (Buffer.byteLength(json) <= INLINE_BYTES_MAX) return create(ValueSchema, { kind: { case: "json", value: json } });
      return create(ValueSchema, { kind: { case: "artifact", value: await putArtifact(Buffer.from(json), "application/json") } });
    },
    async fromValue({ kind }) {
      if (kind.case === "json") return kind.value;
      if (kind.case === "artifact") return Buffer.from(await getArtifact(kind.value.sha256)).toString("utf8");
      throw new Error("a value without a kind");
    },
  };
}
