import { create } from "@bufbuild/protobuf";
import { HookAt, MessageSchema, type ReadConversationRequest, ReadConversationResponseSchema, Role } from "@forge/protocol/session";
import { type Task, TaskSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import type { TaskContext } from "../handler.ts";
import { hookEdits } from "./hook-edits.ts";
import { readHookView } from "./hook-view.ts";

function contextOf(task: Task, asked: ReadConversationRequest[] = []): TaskContext {
  const messages = [
    create(MessageSchema, { role: Role.USER, parts: [{ kind: { case: "text", value: { text: "hello" } } }] }),
    create(MessageSchema, {
      role: Role.ASSISTANT,
      parts: [
        { kind: { case: "reasoning", value: { text: "hm" } } },
        { kind: { case: "text", value: { text: "I look." } } },
        { kind: { case: "toolCall", value: { toolCallId: "c1", tool: "tools.search", argumentsJson: '{"q": 1}' } } },
      ],
    }),
    create(MessageSchema, { role: Role.TOOL, parts: [{ kind: { case: "toolResult", value: { toolCallId: "c1", output: "found" } } }] }),
  ];
  const readConversation = async (request: ReadConversationRequest) => {
    asked.push(request);
    return create(ReadConversationResponseSchema, { messages });
  };
  return { task, readConversation } as unknown as TaskContext;
}

const hookTask = (at: HookAt, configJson = "") =>
  create(TaskSchema, { kind: { case: "hook", value: { hook: "my.hook", at, sessionId: "s", turnId: "t", configJson, conversationThroughSeq: 7n } } });

describe("readHookView", () => {
  it("tells a hook where it is called, its settings, and the conversation up to where it may see it", async () => {
    const asked: ReadConversationRequest[] = [];
    const view = await readHookView(contextOf(hookTask(HookAt.POST_LLM, '{"strict": true}'), asked));
    expect(asked).toMatchObject([{ sessionId: "s", throughSeq: 7n }]);
    expect(view).toEqual({
      hook: "my.hook",
      at: "on_post_llm",
      sessionId: "s",
      turnId: "t",
      config: { strict: true },
      messages: [
        { role: "user", text: "hello", calls: [] },
        { role: "assistant", text: "I look.", calls: [{ toolCallId: "c1", tool: "tools.search", argumentsJson: '{"q": 1}' }] },
        { role: "tool", text: "found", calls: [] },
      ],
    });
  });

  it("refuses what is no hook's, or of a point that it does not know", async () => {
    await expect(readHookView(contextOf(create(TaskSchema, { kind: { case: "tool", value: {} } })))).rejects.toMatchObject({
      message: expect.stringContaining("kind tool"),
    });
    await expect(readHookView(contextOf(hookTask(99 as HookAt)))).rejects.toMatchObject({ message: expect.stringContaining("99") });
  });
});

describe("hookEdits", () => {
  it("takes nothing, one change or several, in either way of writing", () => {
    expect(hookEdits(undefined)).toEqual([]);
    expect(hookEdits({ block: "no" })).toMatchObject([{ kind: { case: "block", value: "no" } }]);
    expect(
      hookEdits([
        { add_message: { text: "a", ephemeral: true } },
        { addMessage: { text: "b", role: "user" } },
        { replace_text: "c" },
        { go_on: true },
        { deny_call: { tool_call_id: "1", reason: "r" } },
        { denyCall: { toolCallId: "2", reason: "r" } },
      ]),
    ).toMatchObject([
      { kind: { case: "addMessage", value: { role: Role.SYSTEM, ephemeral: true, parts: [{ kind: { value: { text: "a" } } }] } } },
      { kind: { case: "addMessage", value: { role: Role.USER, ephemeral: false } } },
      { kind: { case: "replaceText", value: "c" } },
      { kind: { case: "goOn", value: true } },
      { kind: { case: "denyCall", value: { toolCallId: "1", reason: "r" } } },
      { kind: { case: "denyCall", value: { toolCallId: "2" } } },
    ]);
  });

  it.each([
    ["edits.0", "text"],
    ["edits.0", { block: "a", go_on: true }],
    ["edits.0.allow_call", { allow_call: "c" }],
    ["edits.0.go_on", { go_on: "yes" }],
    ["edits.0.add_message.role", { add_message: { text: "a", role: "assistant" } }],
    ["edits.0.deny_call.reason", { deny_call: { tool_call_id: "1" } }],
    ["edits", Array.from({ length: 17 }, () => ({ block: "" }))],
  ])("refuses %s of a wrong answer", (field, answer) => {
    expect(() => hookEdits(answer)).toThrow(expect.objectContaining({ reason: "HOOK_RESULT", detail: expect.objectContaining({ metadata: { field } }) }));
  });
});
