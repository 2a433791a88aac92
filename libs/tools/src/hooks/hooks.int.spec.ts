import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { create } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { HookAt, MessageSchema, ReadConversationResponseSchema, Role } from "@forge/protocol/session";
import { RiskLevel } from "@forge/protocol/tool";
import { CapabilityKind, type Task, TaskSchema } from "@forge/protocol/worker";
import type { Outcome, TaskContext, TaskHandler } from "@forge/worker";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeTaskContext } from "../testing/fake-task-context.ts";
import { processesWith } from "../testing/processes.ts";
import type { ToolDefinition } from "../tools/tool-definition.ts";
import { toolHandler } from "../tools/tool-handler.ts";
import { createHookHandlers } from "./hook-handlers.ts";
import { hookSpecs } from "./hook-specs.ts";
import { type HookEvent, type HooksConfig, type ProjectHook, parseHooks } from "./hooks-config.ts";
import { withToolHooks } from "./tool-hooks.ts";

let workspace: string;
beforeEach(() => {
  workspace = mkdtempSync(path.join(tmpdir(), "forge-hooks-"));
});
afterEach(() => rmSync(workspace, { recursive: true }));

function hook(at: readonly HookEvent[], script: string, more: Partial<ProjectHook> = {}): ProjectHook {
  return { name: "project.test", at, command: ["sh", "-c", script], timeoutMs: 5000, ...more };
}

const configOf = (...hooks: ProjectHook[]): HooksConfig => ({ hooks, problems: [] });

let calls: unknown[] = [];
const definition: ToolDefinition<{ text?: string }> = {
  name: "test.say",
  description: "Says it.",
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  idempotent: false,
  risk: RiskLevel.EXECUTE,
  timeoutMs: 5000,
  execute: async (args) => {
    calls.push(args);
    if (args.text === "fail") throw new ForgeError(ErrorCode.NOT_FOUND, "nothing there", { reason: "NOTHING" });
    return { said: args.text ?? "" };
  },
};

beforeEach(() => {
  calls = [];
});

const problems: unknown[] = [];

function hooked(config: HooksConfig): TaskHandler {
  return withToolHooks([toolHandler(definition)], { config, workspace, onProblem: (error) => problems.push(error) })[0] as TaskHandler;
}

function toolTask(args: string): Task {
  return create(TaskSchema, {
    kind: { case: "tool", value: { tool: "test.say", argumentsJson: args, toolCallId: "call-1", sessionId: "session-1" } },
    needsStart: true,
  });
}

function errorOf(outcome: Outcome) {
  if (outcome.case !== "failure") throw new Error(`it ended as ${outcome.case}`);
  return outcome.value.error;
}

describe("hooks around tools", () => {
  it("are told of the call before it is made and how it ended after", async () => {
    const handler = hooked(configOf(hook(["before_tool"], "cat > before.json"), hook(["after_tool"], "cat > after.json")));
    const context = fakeTaskContext(toolTask('{"text": "hello"}'));
    expect((await handler.run(context)).case).toBe("tool");
    expect(JSON.parse(readFileSync(path.join(workspace, "before.json"), "utf8"))).toMatchObject({
      event: "before_tool",
      hook: "project.test",
      workspace,
      tool: "test.say",
      tool_call_id: "call-1",
      session_id: "session-1",
      mode: "act",
      preview: false,
      arguments: { text: "hello" },
    });
    expect(JSON.parse(readFileSync(path.join(workspace, "after.json"), "utf8"))).toMatchObject({
      event: "after_tool",
      outcome: "completed",
      output: { said: "hello" },
    });
    await handler.run(fakeTaskContext(toolTask('{"text": "fail"}')));
    expect(JSON.parse(readFileSync(path.join(workspace, "after.json"), "utf8"))).toMatchObject({ outcome: "failed", error: { reason: "NOTHING" } });
  });

  it("deny with exit code 2 and a reason, before anything has started", async () => {
    const handler = hooked(configOf(hook(["before_tool"], 'grep -q secret && { echo "no secrets" >&2; exit 2; }; exit 0')));
    const context = fakeTaskContext(toolTask('{"text": "a secret"}'));
    expect(errorOf(await handler.run(context))).toMatchObject({
      code: ErrorCode.PERMISSION_DENIED,
      reason: "HOOK_DENIED",
      message: expect.stringContaining("no secrets"),
    });
    expect([calls, context.starts]).toEqual([[], []]);
    expect((await handler.run(fakeTaskContext(toolTask('{"text": "fine"}')))).case).toBe("tool");
  });

  it.each([
    ["hangs", hook(["before_tool"], "sleep 3600", { timeoutMs: 300 }), "did not end within 0.3 s"],
    [
      "hangs, with a child in a session of its own that ignores signals",
      hook(["before_tool"], "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 3601' & sleep 3601", { timeoutMs: 300 }),
      "was killed",
    ],
    ["fails", hook(["before_tool"], "echo broken >&2; exit 1"), "exit code 1: broken"],
    ["is missing", { ...hook(["before_tool"], ""), command: ["./no-such-program"] }, "the hook project.test failed"],
    ["prints without end", hook(["before_tool"], "yes"), "printed more than"],
  ])("one that %s denies", async (_what, failing, says) => {
    const error = errorOf(await hooked(configOf({ ...failing, timeoutMs: Math.min(failing.timeoutMs, 1000) })).run(fakeTaskContext(toolTask("{}"))));
    expect(error).toMatchObject({ code: ErrorCode.PERMISSION_DENIED, reason: "HOOK_FAILED" });
    expect(error?.message).toContain(says === "printed more than" ? "the hook project.test failed" : says);
    expect(calls).toEqual([]);
    expect(await processesWith("sleep 360")).toEqual([]);
  });

  it("one that fails after the call changes nothing of it, and is told", async () => {
    problems.length = 0;
    const outcome = await hooked(configOf(hook(["after_tool"], "exit 1"))).run(fakeTaskContext(toolTask("{}")));
    expect(outcome.case).toBe("tool");
    expect(problems).toMatchObject([{ reason: "HOOK_FAILED" }]);
  });

  it("of other tools are not called, and a file that can't be read lets nothing pass", async () => {
    const other = hook(["before_tool"], "exit 2", { tools: ["tools.*"] });
    expect((await hooked(configOf(other)).run(fakeTaskContext(toolTask("{}")))).case).toBe("tool");
    const broken = parseHooks("[[hook]]\n", ".forge/hooks.toml");
    expect(errorOf(await hooked(broken).run(fakeTaskContext(toolTask("{}"))))).toMatchObject({
      reason: "HOOKS_INVALID",
      message: expect.stringContaining(".forge/hooks.toml:1"),
    });
  });

  it("end with the call that is cancelled", async () => {
    const abort = new AbortController();
    const running = hooked(configOf(hook(["before_tool"], "sleep 3602"))).run(fakeTaskContext(toolTask("{}"), { signal: abort.signal }));
    abort.abort(new ForgeError(ErrorCode.CANCELLED, "cancelled"));
    expect((await running).case).toBe("cancelled");
    expect(await processesWith("sleep 3602")).toEqual([]);
  });

  it("see no more of the environment than tools do", async () => {
    process.env.FORGE_TEST_SECRET = "secret";
    try {
      await hooked(configOf(hook(["before_tool"], "env > env.txt"))).run(fakeTaskContext(toolTask("{}")));
    } finally {
      delete process.env.FORGE_TEST_SECRET;
    }
    const environment = readFileSync(path.join(workspace, "env.txt"), "utf8");
    expect(environment).toContain("FORGE_HOOK=project.test");
    expect(environment).not.toContain("FORGE_TEST_SECRET");
  });
});

describe("hooks in the loop", () => {
  function hookContext(at: HookAt): TaskContext {
    const messages = [create(MessageSchema, { role: Role.USER, parts: [{ kind: { case: "text", value: { text: "the question" } } }] })];
    const task = create(TaskSchema, { kind: { case: "hook", value: { hook: "project.test", at, sessionId: "s", turnId: "t", configJson: '{"a":1}' } } });
    return { ...fakeTaskContext(task), readConversation: async () => create(ReadConversationResponseSchema, { messages }) };
  }

  async function answer(script: string, at = HookAt.USER_MESSAGE): Promise<Outcome> {
    const [handler] = createHookHandlers([hook(["on_user_message", "on_post_llm"], script)], { workspace });
    return await (handler as TaskHandler).run(hookContext(at));
  }

  it("are served as capabilities, and named for agents, where they are called in the loop", () => {
    const hooks = [hook(["on_user_message", "before_tool"], ""), hook(["before_tool"], "", { name: "project.other" })];
    expect(createHookHandlers(hooks, { workspace }).map(({ capability }) => [capability.kind, capability.name])).toEqual([
      [CapabilityKind.HOOK, "project.test"],
    ]);
    const specs = hookSpecs(hooks);
    expect(specs).toMatchObject([{ name: "project.test", at: [HookAt.USER_MESSAGE] }]);
    expect(specs[0]?.timeout === undefined ? 0 : durationMs(specs[0].timeout)).toBe(10_000);
  });

  it("are told the conversation and answer with edits, or with nothing", async () => {
    expect(await answer("cat > told.json")).toMatchObject({ case: "hook", value: { edits: [] } });
    expect(JSON.parse(readFileSync(path.join(workspace, "told.json"), "utf8"))).toMatchObject({
      event: "on_user_message",
      session_id: "s",
      config: { a: 1 },
      messages: [{ role: "user", text: "the question", calls: [] }],
    });
    writeFileSync(path.join(workspace, "edits.json"), '{"edits": [{"replace_text": "another"}, {"add_message": {"text": "be brief", "ephemeral": true}}]}');
    expect(await answer("cat edits.json")).toMatchObject({
      case: "hook",
      value: { edits: [{ kind: { case: "replaceText", value: "another" } }, { kind: { case: "addMessage" } }] },
    });
  });

  it("block with exit code 2", async () => {
    expect(await answer("echo not today >&2; exit 2")).toMatchObject({ case: "hook", value: { edits: [{ kind: { case: "block", value: "not today" } }] } });
  });

  it.each([
    ["echo hello", "not JSON"],
    ["echo '[]'", "without a list"],
    ['echo \'{"edits": [{"allow_call": "x"}]}\'', "is not known"],
    ["exit 3", "exit code 3"],
  ])("fail where they say something else: %s", async (script, says) => {
    expect(errorOf(await answer(script))?.message).toContain(says);
  });
});
