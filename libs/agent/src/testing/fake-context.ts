import { createHash } from "node:crypto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { type ArtifactRef, ArtifactRefSchema, ErrorCode, ValueSchema } from "@forge/protocol/common";
import type { ModelStarted, TurnOutputDelta } from "@forge/protocol/event";
import { type ReadConversationRequest, type ReadConversationResponse, ReadConversationResponseSchema } from "@forge/protocol/session";
import { LeasedTaskSchema, ModelTaskSchema, type OutputDelta, TaskSchema, type TaskStart } from "@forge/protocol/worker";
import type { TaskContext } from "@forge/worker";

export interface FakeContextOptions {
  readonly task?: MessageInitShape<typeof ModelTaskSchema>;
  readonly conversation?: MessageInitShape<typeof ReadConversationResponseSchema>;
  readonly epoch?: number;
  /** Called at each piece of output, for tests that act in the midst of an answer. */
  readonly onReport?: (kind: OutputDelta["kind"]) => void;
  /** What the start is refused with. */
  readonly startError?: ForgeError;
}

/** A context in memory that remembers what a handler did with it. */
export interface FakeContext extends TaskContext {
  readonly starts: readonly ModelStarted[];
  readonly deltas: readonly TurnOutputDelta[];
  readonly reads: readonly ReadConversationRequest[];
  readonly conversation: ReadConversationResponse;
  readonly artifacts: Map<string, Uint8Array>;
  /** Aborts as the worker runtime does on a cancellation. */
  cancel(): void;
  /** Aborts as the worker runtime does at the deadline. */
  passDeadline(): void;
}

/** Keeps content as the artifact store does. */
export function storeArtifact(artifacts: Map<string, Uint8Array>, content: Uint8Array, mediaType: string): ArtifactRef {
  const sha256 = createHash("sha256").update(content).digest("hex");
  artifacts.set(sha256, content);
  return create(ArtifactRefSchema, { sha256, size: BigInt(content.length), mediaType, preview: new TextDecoder().decode(content.subarray(0, 64)) });
}

/** A lease of one model call with its conversation, and nothing behind it. */
export function createFakeContext(options: FakeContextOptions = {}): FakeContext {
  const model = create(ModelTaskSchema, {
    sessionId: "session-1",
    turnId: "turn-1",
    modelCallId: "call-1",
    model: "demo/echo",
    conversationThroughSeq: 7n,
    ...options.task,
  });
  const task = create(TaskSchema, { kind: { case: "model", value: model }, needsStart: true });
  const conversation = create(ReadConversationResponseSchema, options.conversation);
  const starts: ModelStarted[] = [];
  const deltas: TurnOutputDelta[] = [];
  const reads: ReadConversationRequest[] = [];
  const artifacts = new Map<string, Uint8Array>();
  const controller = new AbortController();
  return {
    lease: create(LeasedTaskSchema, { taskId: "task-1", epoch: options.epoch ?? 1, task }),
    task,
    signal: controller.signal,
    starts,
    deltas,
    reads,
    conversation,
    artifacts,
    start(kind: TaskStart["kind"]) {
      if (options.startError) return Promise.reject(options.startError);
      if (kind.case === "model") starts.push(kind.value);
      return Promise.resolve();
    },
    report(kind) {
      if (kind.case === "turn") deltas.push(kind.value);
      options.onReport?.(kind);
    },
    queued: () => undefined,
    begun: () => undefined,
    heartbeat: () => undefined,
    readConversation(request) {
      reads.push(request);
      return Promise.resolve(conversation);
    },
    listChanges: () => Promise.reject(new Error("a model lists no changes")),
    putArtifact: (content, mediaType) => Promise.resolve(storeArtifact(artifacts, content, mediaType)),
    getArtifact(sha256) {
      const content = artifacts.get(sha256);
      return content ? Promise.resolve(content) : Promise.reject(new ForgeError(ErrorCode.NOT_FOUND, `No artifact ${sha256}.`));
    },
    toValue: (json) => Promise.resolve(create(ValueSchema, { kind: { case: "json", value: json } })),
    fromValue: (value) => Promise.resolve(value.kind.case === "json" ? value.kind.value : ""),
    cancel: () => controller.abort(new ForgeError(ErrorCode.CANCELLED, "The turn was cancelled.")),
    passDeadline: () => controller.abort(new ForgeError(ErrorCode.DEADLINE_EXCEEDED, "The call's time is over.")),
  };
}
