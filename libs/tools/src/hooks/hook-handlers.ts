import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { CapabilityKind, CapabilitySchema, HookResultSchema } from "@forge/protocol/worker";
import { failure, type HookMessage, hookEdits, interrupted, type Outcome, readHookView, type TaskContext, type TaskHandler } from "@forge/worker";
import type { JsonValue } from "../tools/tool-definition.ts";
import { callHook, type HookRunnerOptions } from "./call-hook.ts";
import { isLoopPoint } from "./hook-specs.ts";
import type { ProjectHook } from "./hooks-config.ts";

/** What a hook is told of the conversation, in characters: the newest messages that fit. */
const CONVERSATION_MAX = 512 * 1024;

/** Serves hooks that are called in an agent's loop: told the conversation as JSON, they answer with edits as JSON, or with nothing. */
export function createHookHandlers(hooks: readonly ProjectHook[], options: HookRunnerOptions): TaskHandler[] {
  return hooks
    .filter(({ at }) => at.some(isLoopPoint))
    .map((hook) => ({
      capability: create(CapabilitySchema, { kind: CapabilityKind.HOOK, name: hook.name }),
      run: (context) => run(hook, context, options),
    }));
}

async function run(hook: ProjectHook, context: TaskContext, options: HookRunnerOptions): Promise<Outcome> {
  const startedAt = performance.now();
  try {
    const { at, sessionId, turnId, config, messages } = await readHookView(context);
    const told = { session_id: sessionId, turn_id: turnId, config: config as JsonValue, messages: newest(messages) };
    const { isDenied, reason, stdout, durationMs } = await callHook(hook, at, told, options, context.signal);
    // What a program prints with a no is for people.
    const edits = hookEdits(isDenied ? { block: reason || `the hook ${hook.name} says no` } : answerOf(hook, stdout));
    return { case: "hook", value: create(HookResultSchema, { edits, durationMs: BigInt(Math.round(durationMs)) }) };
  } catch (error) {
    return interrupted(context.signal) ?? failure(error, performance.now() - startedAt);
  }
}

function answerOf(hook: ProjectHook, stdout: string): unknown {
  if (stdout === "") return undefined;
  let answer: unknown;
  try {
    answer = JSON.parse(stdout);
  } catch {
    throw ForgeError.validation("stdout", `the hook ${hook.name} printed what is not JSON: print {"edits": [...]} or nothing`, {
      reason: "HOOK_RESULT",
      origin: "worker",
    });
  }
  const edits = typeof answer === "object" && answer !== null && "edits" in answer ? answer.edits : undefined;
  if (Array.isArray(edits)) return edits;
  throw ForgeError.validation("edits", `the hook ${hook.name} printed JSON without a list "edits"`, { reason: "HOOK_RESULT", origin: "worker" });
}

function newest(messages: readonly HookMessage[]): JsonValue[] {
  const told: JsonValue[] = [];
  let length = 0;
  for (const { role, text, calls } of messages.toReversed()) {
    const shown = {
      role,
      text,
      calls: calls.map(({ toolCallId, tool, argumentsJson }) => ({ tool_call_id: toolCallId, tool, arguments_json: argumentsJson })),
    };
    length += JSON.stringify(shown).length;
    // The message that it is about is told in any case.
    if (length > CONVERSATION_MAX && told.length > 0) break;
    told.push(shown);
  }
  return told.toReversed();
}
