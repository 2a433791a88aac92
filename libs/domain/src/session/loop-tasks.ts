import { create } from "@bufbuild/protobuf";
import { durationFromMs, durationMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { TaskSchema } from "@forge/protocol/worker";
import type { OutstandingTask } from "../task.ts";
import { windowTokens } from "./compaction/context-use.ts";
import { compactionTaskKey, compactionTimerKey, hookTaskKey, hookTimerKey } from "./keys.ts";
import type { CompactingState, HookCallState } from "./loop-state.ts";
import type { SessionState, TurnState } from "./state.ts";

/** How long one call of a hook may take, unless its spec says otherwise. */
const HOOK_MS_DEFAULT = 10_000;
/** The worker stops a hook in time; the control plane waits so much longer for it to say so, and for it to be taken up at all. */
const HOOK_GRACE_MS = 5_000;
/** A conversation that is summarised in parts takes several calls of a model. */
const COMPACTION_MS_MAX = 15 * 60_000;

/** What is outstanding because of the hook that is asked: a worker's answer, and the end of the wait for it. */
export function hookTasks(state: SessionState, turn: TurnState, call: HookCallState): OutstandingTask[] {
  const { hookCallId, hook, at, index, throughSeq, requestedAtMs } = call;
  const spec = state.agent?.hooks[index];
  const timeoutMs = spec?.timeout === undefined ? HOOK_MS_DEFAULT : durationMs(spec.timeout);
  const dueAtMs = requestedAtMs + timeoutMs + HOOK_GRACE_MS;
  const task = create(TaskSchema, {
    kind: {
      case: "hook",
      value: {
        sessionId: state.sessionId,
        turnId: turn.turnId,
        hookCallId,
        hook,
        at,
        configJson: spec?.configJson,
        conversationThroughSeq: BigInt(throughSeq),
      },
    },
    idempotencyKey: hookCallId,
    deadlineAt: timestampFromMs(Math.min(dueAtMs, turn.deadlineAtMs)),
    timeout: durationFromMs(timeoutMs),
  });
  const key = hookTaskKey(hookCallId);
  return [
    { kind: "work", key, queue: state.queue, capability: `hook:${hook}`, task, idempotent: true, dueAtMs: 0, cancelRequested: turn.cancel !== undefined },
    { kind: "timer", key: hookTimerKey(hookCallId), dueAtMs },
  ];
}

/** What is outstanding because of a summary: the model's, and the end of the wait for it. */
export function compactionTasks(state: SessionState, compacting: CompactingState, turn: TurnState | undefined): OutstandingTask[] {
  const { compactionId, model, throughSeq, instructions, turnId, requestedAtMs } = compacting;
  const dueAtMs = requestedAtMs + COMPACTION_MS_MAX;
  const isOwn = turn?.compaction?.isOwn === true;
  const { sessionId } = state;
  const what = { sessionId, compactionId, model, throughSeq: BigInt(throughSeq), instructions, turnId, contextWindowTokens: windowTokens(state) };
  const task = create(TaskSchema, {
    kind: { case: "compaction", value: what },
    idempotencyKey: compactionId,
    deadlineAt: timestampFromMs(isOwn ? Math.min(dueAtMs, turn.deadlineAtMs) : dueAtMs),
  });
  const cancelRequested = isOwn && turn.cancel !== undefined;
  const key = compactionTaskKey(compactionId);
  return [
    { kind: "work", key, queue: state.queue, capability: `model:${model}`, task, idempotent: true, dueAtMs: 0, cancelRequested },
    { kind: "timer", key: compactionTimerKey(compactionId), dueAtMs },
  ];
}
