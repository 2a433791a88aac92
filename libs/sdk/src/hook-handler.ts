import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { CapabilityKind, CapabilitySchema, HookResultSchema } from "@forge/protocol/worker";
import { type HookMessage, hookEdits, readHookView, type TaskHandler } from "@forge/worker";
import type { HookDefinition } from "./definition.ts";
import { type CallOptions, perform } from "./perform.ts";

const NO_MESSAGE: HookMessage = { role: "user", text: "", calls: [] };

/** Serves a hook as a worker's capability. */
export function hookHandler(definition: HookDefinition, { logger, graceMs }: CallOptions): TaskHandler {
  const { name } = definition;
  return {
    capability: create(CapabilitySchema, { kind: CapabilityKind.HOOK, name }),
    run: (context) =>
      perform(context, { name, logger, graceMs }, async (signal) => {
        const { hook: _name, ...view } = await readHookView(context);
        if (!definition.at.includes(view.at)) {
          throw new ForgeError(ErrorCode.UNSUPPORTED, `the hook ${name} can't be called at ${view.at}: it is made for ${definition.at.join(", ")}`, {
            reason: "HOOK_POINT",
            origin: "worker",
          });
        }
        signal.throwIfAborted();
        const startedAt = performance.now();
        const { text, calls } = view.messages.at(-1) ?? NO_MESSAGE;
        const { idempotencyKey } = context.task;
        const answer = await definition.run({ ...view, text, calls, signal, logger, idempotencyKey, heartbeat: () => context.heartbeat() });
        return { case: "hook", value: create(HookResultSchema, { edits: hookEdits(answer), durationMs: BigInt(Math.round(performance.now() - startedAt)) }) };
      }),
  };
}
