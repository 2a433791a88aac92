import { HookAt, TurnOutcome } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import {
  ALLOW_ALL,
  answerWith,
  callPart,
  createSession,
  failure,
  READ,
  runTool,
  SESSION_ID,
  type SessionStream,
  sessionInTurn,
  settled,
  startTurn,
  TOOLS,
  textPart,
  toolTask,
} from "../../testing/session-fixture.ts";
import { TestStream } from "../../testing/test-stream.ts";
import { sent } from "../../testing/told.ts";
import { announcesAction } from "../announces-action.ts";
import { sessionDecider } from "../session-decider.ts";

const tools = TOOLS.map(({ name }) => name);

const agentWith = (name: string, at: HookAt, config: object = {}, more: object = {}) => ({
  model: "demo/a",
  tools,
  hooks: [{ name, at: [at], configJson: JSON.stringify(config) }],
  ...more,
});

const turnWith = (name: string, at: HookAt, config: object = {}, more: object = {}): SessionStream =>
  sessionInTurn({ agent: agentWith(name, at, config, more), policy: ALLOW_ALL });

function failTool(stream: SessionStream): void {
  answerWith(stream, [callPart(READ.name)]);
  stream.must(settled(toolTask(stream, READ.name), failure()));
}

describe("forge.tool_enforcement", () => {
  const enforced = (config = {}, more = {}) => turnWith("forge.tool_enforcement", HookAt.POST_LLM, config, more);

  it("nudges an answer that used no tool, so often as it may, and only for this turn", () => {
    const stream = enforced({ max_nudges: 2, message: "Use a tool." });
    for (let nudge = 0; nudge < 2; nudge += 1) {
      const { cases } = answerWith(stream, [textPart("I know it.")]);
      expect(cases).toEqual(["modelCompleted", "modelUsageRecorded", "hookCompleted", "modelRequested"]);
    }
    expect(sent(stream)).toEqual(["user: Hello.", "assistant: I know it.", "user: Use a tool.", "assistant: I know it.", "user: Use a tool."]);
    answerWith(stream, [textPart("I do.")]);
    expect(stream.state.turn?.end?.outcome).toBe(TurnOutcome.TASK_COMPLETED);
    stream.must(startTurn("Next."));
    expect(sent(stream)).toEqual(["user: Hello.", "assistant: I know it.", "assistant: I know it.", "assistant: I do.", "user: Next."]);
  });

  it("lets an answer be the last once a tool was used, unless it announces what it does not do", () => {
    const stream = enforced();
    answerWith(stream, [callPart(READ.name)]);
    runTool(stream, READ.name);
    expect(answerWith(stream, [textPart("Now I will edit the file.")]).cases).toContain("modelRequested");
    answerWith(stream, [textPart("It is done.")]);
    expect(stream.state.turn?.end?.outcome).toBe(TurnOutcome.TASK_COMPLETED);
  });

  it("says nothing where there is no tool", () => {
    const stream = enforced({}, { tools: [] });
    expect(answerWith(stream, [textPart("Hello.")]).cases.at(-1)).toBe("turnCompleted");
  });
});

describe("an announcement", () => {
  it.each([
    ["I'll now update the config.", true],
    ["Let me check the tests", true],
    ["Next, I will run the build:", true],
    ["Done. I\u2019m going to fix the other one.", true],
    ["I updated the config.", false],
    ["Shall I run the tests? Let me check first?", false],
    [`I will edit it. ${"It is done. ".repeat(60)}`, false],
    ["", false],
  ])("%j: %s", (text, announces) => {
    expect(announcesAction(text)).toBe(announces);
  });
});

describe("forge.reminder", () => {
  it("is said before every so many model calls", () => {
    const stream = turnWith("forge.reminder", HookAt.PRE_LLM, { text: "Be brief.", every_model_calls: 2 });
    expect(sent(stream)).toEqual(["user: Hello."]);
    failTool(stream);
    expect(sent(stream).at(-1)).toBe("system: Be brief.");
    failTool(stream);
    expect(sent(stream).filter((line) => line.startsWith("system"))).toHaveLength(1);
    failTool(stream);
    expect(sent(stream).filter((line) => line.startsWith("system"))).toHaveLength(2);
  });

  it("is said before each without a number, and once after so many", () => {
    expect(sent(turnWith("forge.reminder", HookAt.PRE_LLM, { text: "Be brief." }))).toEqual(["user: Hello.", "system: Be brief."]);
    const stream = turnWith("forge.reminder", HookAt.PRE_LLM, { text: "Hurry.", after_model_calls: 1 });
    for (let call = 0; call < 3; call += 1) failTool(stream);
    expect(sent(stream).filter((line) => line.startsWith("system"))).toHaveLength(1);
  });
});

describe("forge.reflexion", () => {
  it("speaks after so many failures in a row, and again only after as many more", () => {
    const stream = turnWith("forge.reflexion", HookAt.PRE_LLM, { after_failures: 2, message: "Think." });
    const spoken = () => sent(stream).filter((line) => line === "user: Think.").length;
    failTool(stream);
    expect(spoken()).toBe(0);
    failTool(stream);
    expect(spoken()).toBe(1);
    failTool(stream);
    expect(spoken()).toBe(1);
    answerWith(stream, [callPart(READ.name)]);
    runTool(stream, READ.name);
    failTool(stream);
    expect(spoken()).toBe(1);
    failTool(stream);
    expect(spoken()).toBe(2);
  });
});

describe("a session's hooks", () => {
  const POST = HookAt.POST_LLM;
  const PRE = HookAt.PRE_LLM;
  it.each<[string, object, string]>([
    ["a name", { name: "a b", at: [PRE] }, "agent.hooks[0].name"],
    ["no point", { name: "a", at: [] }, "agent.hooks[0].at"],
    ["an unknown point", { name: "a", at: [9] }, "agent.hooks[0].at[0]"],
    ["a point twice", { name: "a", at: [PRE, PRE] }, "agent.hooks[0].at[1]"],
    ["a timeout", { name: "a", at: [PRE], timeout: { seconds: 301n } }, "agent.hooks[0].timeout"],
    ["settings that are no object", { name: "a", at: [PRE], configJson: "[]" }, "agent.hooks[0].config_json"],
    ["settings that are no JSON", { name: "a", at: [PRE], configJson: "{" }, "agent.hooks[0].config_json"],
    ["long settings", { name: "a", at: [PRE], configJson: JSON.stringify({ a: "x".repeat(4_096) }) }, "agent.hooks[0].config_json"],
    ["a shipped hook that there is not", { name: "forge.magic", at: [PRE] }, "agent.hooks[0].name"],
    ["a shipped hook elsewhere", { name: "forge.tool_enforcement", at: [PRE] }, "agent.hooks[0].at"],
    ["a setting that there is not", { name: "forge.tool_enforcement", at: [POST], configJson: '{"max":1}' }, "agent.hooks[0].config_json"],
    ["a setting of another kind", { name: "forge.tool_enforcement", at: [POST], configJson: '{"max_nudges":"1"}' }, "agent.hooks[0].config_json"],
    ["a reminder of nothing", { name: "forge.reminder", at: [PRE] }, "agent.hooks[0].config_json"],
    [
      "a reminder at two times",
      { name: "forge.reminder", at: [PRE], configJson: '{"text":"a","every_model_calls":1,"after_model_calls":1}' },
      "agent.hooks[0].config_json",
    ],
  ])("with %s are refused", (_, hook, field) => {
    const stream = new TestStream(sessionDecider, { streamId: SESSION_ID });
    const { rejection } = stream.execute(createSession({ agent: { model: "demo/a", hooks: [hook] } }));
    expect(rejection).toMatchObject({ code: 1, metadata: { field } });
  });

  it("are at most 16", () => {
    const stream = new TestStream(sessionDecider, { streamId: SESSION_ID });
    const hooks = Array.from({ length: 17 }, () => ({ name: "a", at: [PRE] }));
    expect(stream.execute(createSession({ agent: { model: "demo/a", hooks } })).rejection?.metadata).toMatchObject({ field: "agent.hooks" });
  });
});
