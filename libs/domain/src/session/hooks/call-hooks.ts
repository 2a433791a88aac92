import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, ForgeErrorSchema } from "@forge/protocol/common";
import { HookCompletedSchema, HookFailedSchema, HookRequestedSchema } from "@forge/protocol/event";
import type { HookAt } from "@forge/protocol/session";
import type { SessionRecorder } from "../session-command.ts";
import type { TurnState } from "../state.ts";
import { nextHook } from "./hook-points.ts";
import { hookConfig, SHIPPED_HOOKS } from "./shipped-hooks.ts";

/** Where hooks are called: the first that is still to be, and the event of what they are about. */
export interface HookPoint {
  readonly at: HookAt;
  readonly from: number;
  readonly aboutSeq: number;
}

/**
 * Calls the point's hooks in order. "passed": none is left. "recorded": one has answered at once, or could not be asked. "waits": a worker is asked, or would
 * be, were the turn not paused.
 */
export function callHooks(recorder: SessionRecorder, turn: TurnState, point: HookPoint): "passed" | "recorded" | "waits" {
  const { state, context } = recorder;
  const { at, from, aboutSeq } = point;
  const { turnId } = turn;
  for (let placed = nextHook(state.agent, at, from); placed !== undefined; placed = nextHook(state.agent, at, placed.index + 1)) {
    const { index, spec } = placed;
    const ids = { hookCallId: context.newId(), hook: spec.name, at, index };
    const shipped = SHIPPED_HOOKS.get(spec.name);
    if (shipped !== undefined) {
      const edits = shipped.edits(turn, hookConfig(spec) ?? {});
      if (edits.length === 0) continue;
      const value = create(HookCompletedSchema, { ...ids, edits, aboutSeq: BigInt(aboutSeq) });
      recorder.record({ turnId, payload: { case: "hookCompleted", value }, sensitive: true });
      return "recorded";
    }
    if (turn.paused) return "waits";
    recorder.record({ turnId, payload: { case: "hookRequested", value: create(HookRequestedSchema, { ...ids, aboutSeq: BigInt(aboutSeq) }) } });
    if (context.serves(state.queue, `hook:${spec.name}`)) return "waits";
    const error = hookError(spec.name, ErrorCode.NOT_FOUND, "HOOK_NOT_SERVED", `No worker of queue ${state.queue} serves the hook ${spec.name}.`);
    recorder.record({ turnId, payload: { case: "hookFailed", value: create(HookFailedSchema, { ...ids, error }) }, sensitive: true });
    return "recorded";
  }
  return "passed";
}

/** The error of a hook that failed; a hook before a model call ends the turn with it. */
export function hookError(hook: string, code: ErrorCode, reason: string, message: string, metadata: { [key: string]: string } = {}): ForgeError {
  return create(ForgeErrorSchema, { code, reason, message, origin: "control-plane", metadata: { hook, ...metadata } });
}
