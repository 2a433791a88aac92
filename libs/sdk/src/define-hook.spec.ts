import { create } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { HookAt, MessageSchema, ReadConversationResponseSchema, Role } from "@forge/protocol/session";
import { CapabilityKind } from "@forge/protocol/worker";
import type { Outcome, TaskHandler } from "@forge/worker";
import { describe, expect, it } from "vitest";
import type { HookContext } from "./context.ts";
import { defineHook, type HookOptions } from "./define-hook.ts";
import { createHandlers } from "./handlers.ts";
import { recordingLogger, taskContext } from "./testing/task-context.ts";

const messages = [
  create(MessageSchema, { role: Role.USER, parts: [{ kind: { case: "text", value: { text: "drop the table" } } }] }),
  create(MessageSchema, {
    role: Role.ASSISTANT,
    parts: [
      { kind: { case: "text", value: { text: "I do." } } },
      { kind: { case: "toolCall", value: { toolCallId: "call-1", tool: "db.run", argumentsJson: '{"sql": "DROP"}' } } },
    ],
  }),
];

function handler(run: HookOptions["run"], at: HookOptions["at"] = ["on_user_message", "on_post_llm"]): TaskHandler {
  return createHandlers([defineHook({ name: "my.guard", at, run })], { logger: recordingLogger() })[0] as TaskHandler;
}

async function call(served: TaskHandler, at: HookAt = HookAt.POST_LLM): Promise<Outcome> {
  const value = { hook: "my.guard", at, sessionId: "session-1", turnId: "turn-1", configJson: '{"strict":true}', conversationThroughSeq: 9n };
  const context = taskContext({ kind: { case: "hook", value } });
  return await served.run({ ...context, readConversation: async () => create(ReadConversationResponseSchema, { messages }) });
}

describe("a hook that is served", () => {
  it("is told where it is called, its settings and the conversation, and settles with its edits", async () => {
    let given: HookContext | undefined;
    const served = handler((context) => {
      given = context;
      return context.calls.map(({ toolCallId }) => ({ denyCall: { toolCallId, reason: "no tables" } }));
    });
    expect(served.capability).toMatchObject({ kind: CapabilityKind.HOOK, name: "my.guard" });
    expect(await call(served)).toMatchObject({
      case: "hook",
      value: { edits: [{ kind: { case: "denyCall", value: { toolCallId: "call-1", reason: "no tables" } } }] },
    });
    expect(given).toMatchObject({
      at: "on_post_llm",
      sessionId: "session-1",
      turnId: "turn-1",
      config: { strict: true },
      text: "I do.",
      idempotencyKey: "key-1",
    });
    expect(given?.messages.map(({ role, text }) => [role, text])).toEqual([
      ["user", "drop the table"],
      ["assistant", "I do."],
    ]);
  });

  it("changes nothing where it returns nothing", async () => {
    expect(await call(handler(() => undefined))).toMatchObject({ case: "hook", value: { edits: [] } });
    expect(await call(handler(async () => ({ goOn: true })))).toMatchObject({ case: "hook", value: { edits: [{ kind: { case: "goOn", value: true } }] } });
  });

  it.each<[string, HookOptions["run"], object]>([
    ["throws", () => Promise.reject(new TypeError("oh")), { code: ErrorCode.INTERNAL, message: "my.guard threw TypeError: oh" }],
    ["answers with what is no edit", () => ({ allowCall: "call-1" }) as never, { code: ErrorCode.VALIDATION, reason: "HOOK_RESULT" }],
  ])("fails where it %s", async (_what, run, error) => {
    expect(await call(handler(run))).toMatchObject({ case: "failure", value: { error } });
  });

  it("fails where it is called at a point that it is not made for", async () => {
    const outcome = await call(
      handler(() => expect.fail("called"), ["on_pre_llm"]),
      HookAt.USER_MESSAGE,
    );
    expect(outcome).toMatchObject({ case: "failure", value: { error: { code: ErrorCode.UNSUPPORTED, reason: "HOOK_POINT" } } });
  });
});

it.each([
  ["name", { name: "with space" }],
  ["name", { name: "forge.reminder" }],
  ["at", { at: [] }],
  ["at", { at: ["sometimes" as never] }],
])("a hook with a wrong %s is refused", (field, options) => {
  expect(() => defineHook({ name: "my.guard", at: ["on_pre_llm"], run: () => undefined, ...options })).toThrow(
    expect.objectContaining({ reason: "DEFINITION", detail: expect.objectContaining({ metadata: { field } }) }),
  );
});
