import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { ToolMode } from "@forge/protocol/tool";
import type { ToolTask } from "@forge/protocol/worker";
import { failure, interrupted, type Outcome, readArguments, type TaskContext, type TaskHandler } from "@forge/worker";
import type { JsonValue } from "../tools/tool-definition.ts";
import { callHook, type HookRunnerOptions } from "./call-hook.ts";
import { type HookProblem, type HooksConfig, isAbout, type ProjectHook } from "./hooks-config.ts";

/** What hooks around tools need. */
export interface ToolHooksOptions extends HookRunnerOptions {
  readonly config: HooksConfig;
  /** An after_tool hook failed: the call's end stays what it is. */
  readonly onProblem: (error: unknown) => void;
}

/** What an after_tool hook is shown of a result. */
const OUTPUT_SHOWN_MAX = 64 * 1024;

const MODES: Readonly<Record<number, string>> = { [ToolMode.PLAN]: "plan", [ToolMode.BYPASS]: "bypass" };

/**
 * The same tools with hooks around every call of them, whoever serves them. A before_tool hook may only deny: it is asked before a call is shown for approval
 * and again before it is made, and one that fails denies; so does a file of hooks that can't be read. An after_tool hook is told how the call ended, and changes nothing of it.
 */
export function withToolHooks(handlers: readonly TaskHandler[], options: ToolHooksOptions): TaskHandler[] {
  return handlers.map((handler) => {
    const { tool } = handler.capability;
    if (tool === undefined) return handler;
    const [problem] = options.config.problems;
    // Nobody knows what the file was to keep from happening.
    if (problem !== undefined) return { capability: handler.capability, run: async () => failure(invalid(problem), 0) };
    const about = options.config.hooks.filter((hook) => isAbout(hook, tool.name));
    const before = about.filter(({ at }) => at.includes("before_tool"));
    const after = about.filter(({ at }) => at.includes("after_tool"));
    return before.length === 0 && after.length === 0
      ? handler
      : { capability: handler.capability, run: (context) => run(handler, context, before, after, options) };
  });
}

async function run(
  handler: TaskHandler,
  context: TaskContext,
  before: readonly ProjectHook[],
  after: readonly ProjectHook[],
  options: ToolHooksOptions,
): Promise<Outcome> {
  const startedAt = performance.now();
  const { kind } = context.task;
  if (kind.case !== "tool") return await handler.run(context);
  let told: { readonly [key: string]: JsonValue };
  try {
    told = { ...describe(kind.value), arguments: (await readArguments(context.task, context)) as JsonValue };
  } catch {
    // What is wrong with the arguments, the tool itself says; it is not called with them.
    return await handler.run(context);
  }
  try {
    for (const hook of before) {
      const { isDenied, reason } = await callHook(hook, "before_tool", { ...told, preview: kind.value.preview }, options, context.signal);
      if (isDenied) throw denied(hook, reason);
    }
  } catch (error) {
    return interrupted(context.signal) ?? failure(closed(error), performance.now() - startedAt);
  }
  const outcome = await handler.run(context);
  // A call that was only told, or that waits for a person, has not ended.
  if (outcome.case === "preview" || outcome.case === "inputRequired") return outcome;
  for (const hook of after) {
    try {
      await callHook(hook, "after_tool", { ...told, ...(await ending(outcome, context)) }, options, context.signal);
    } catch (error) {
      options.onProblem(error);
    }
  }
  return outcome;
}

function describe({ sessionId, turnId, runId, stepId, toolCallId, tool, mode }: ToolTask): { readonly [key: string]: JsonValue } {
  return { session_id: sessionId, turn_id: turnId, run_id: runId, step_id: stepId, tool_call_id: toolCallId, tool, mode: MODES[mode] ?? "act" };
}

async function ending(outcome: Outcome, context: TaskContext): Promise<{ readonly [key: string]: JsonValue }> {
  switch (outcome.case) {
    case "tool": {
      const output = outcome.value.output === undefined ? "null" : await context.fromValue(outcome.value.output);
      const isShort = output.length <= OUTPUT_SHOWN_MAX;
      return {
        outcome: "completed",
        output: isShort ? (JSON.parse(output) as JsonValue) : null,
        output_beginning: isShort ? "" : output.slice(0, OUTPUT_SHOWN_MAX),
      };
    }
    case "failure": {
      const { error, unknown } = outcome.value;
      return { outcome: unknown ? "unknown" : "failed", error: { reason: error?.reason ?? "", message: error?.message ?? "" } };
    }
    default:
      return { outcome: outcome.case === "cancelled" ? "cancelled" : "failed" };
  }
}

function invalid({ message }: HookProblem): ForgeError {
  return new ForgeError(ErrorCode.PERMISSION_DENIED, `no tool is called before the hooks can be read: ${message}`.slice(0, 4096), {
    reason: "HOOKS_INVALID",
    origin: "worker",
  });
}

function denied(hook: ProjectHook, reason: string): ForgeError {
  return new ForgeError(
    ErrorCode.PERMISSION_DENIED,
    `the hook ${hook.name} does not let this call pass, and it was not made${reason === "" ? "" : `: ${reason}`}`,
    {
      reason: "HOOK_DENIED",
      origin: "worker",
    },
  );
}

/** A hook that could not say yes has not said it. */
function closed(error: unknown): unknown {
  if (!(error instanceof ForgeError) || error.reason !== "HOOK_FAILED") return error;
  return new ForgeError(ErrorCode.PERMISSION_DENIED, `${error.message}; the call was not made`.slice(0, 4096), { reason: "HOOK_FAILED", origin: "worker" });
}
