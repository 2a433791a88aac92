import type { MessageInitShape } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { FinishReason } from "@forge/protocol/event";
import { type MessageSchema, type Part, Role } from "@forge/protocol/session";
import type { ToolSpecSchema } from "@forge/protocol/tool";
import type { ModelTaskSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import { createModelHandlers } from "../model-handler.ts";
import { createFakeContext, type FakeContextOptions } from "../testing/fake-context.ts";
import { createDemoProvider } from "./provider.ts";

type MessageInit = MessageInitShape<typeof MessageSchema>;

const TOOLS: MessageInitShape<typeof ToolSpecSchema>[] = [
  { name: "tools.shell", inputSchemaJson: '{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}' },
  {
    name: "tools.file",
    inputSchemaJson: '{"type":"object","properties":{"action":{"enum":["write","read"]},"path":{"type":"string"}},"required":["action","path"]}',
  },
  { name: "tools.search", inputSchemaJson: '{"type":"object","properties":{"glob":{"type":"string"},"pattern":{"type":"string"}},"required":["pattern"]}' },
];

const user = (text: string): MessageInit => ({ role: Role.USER, parts: [{ kind: { case: "text", value: { text } } }] });

function toolTurn(tool: string, output: string, isError = false): MessageInit[] {
  return [
    { role: Role.ASSISTANT, parts: [{ kind: { case: "toolCall", value: { toolCallId: "o", providerCallId: "call_1", tool, argumentsJson: "{}" } } }] },
    { role: Role.TOOL, parts: [{ kind: { case: "toolResult", value: { toolCallId: "o", tool, output, isError } } }] },
  ];
}

async function run(options: FakeContextOptions) {
  const context = createFakeContext(options);
  const [handler] = createModelHandlers({ providers: [createDemoProvider({ pieceDelayMs: 0 })] });
  const outcome = await handler?.run(context);
  return { context, outcome };
}

async function ask(model: string, messages: MessageInit[], task: MessageInitShape<typeof ModelTaskSchema> = {}, tools = TOOLS) {
  const { context, outcome } = await run({ task: { model, ...task }, conversation: { messages, tools } });
  if (outcome?.case !== "model") throw new Error(`The call ended as ${outcome?.case}.`);
  const { completed, usage } = outcome.value;
  const parts = completed?.parts ?? [];
  return { context, completed, usage, parts, text: parts.map(textOf).join("") };
}

const textOf = (part: Part): string => (part.kind.case === "text" ? part.kind.value.text : "");
const callsOf = (parts: readonly Part[]) =>
  parts.flatMap((part) => (part.kind.case === "toolCall" ? [[part.kind.value.tool, JSON.parse(part.kind.value.argumentsJson)]] : []));

describe("demo/echo", () => {
  it("says the last text again, at no cost, with counted tokens", async () => {
    const { text, completed, usage, context } = await ask("demo/echo", [user("one"), user("größer 漢字 \u{1f600}")]);
    expect(text).toBe("größer 漢字 \u{1f600}");
    expect(completed).toMatchObject({ finishReason: FinishReason.STOP, providerModel: "echo" });
    expect(usage).toMatchObject({ outputTokens: 5n, costMicroUsd: 0n });
    expect(usage?.inputTokens).toBeGreaterThan(0n);
    expect(context.starts).toHaveLength(1);
  });

  it("stops at max_output_tokens", async () => {
    const { completed } = await ask("demo/chat", [user("count to 500")], { maxOutputTokens: 10 });
    expect(completed?.finishReason).toBe(FinishReason.LENGTH);
  });
});

describe("demo/triage", () => {
  const report = user("Login crashes\n    at submitLogin (src/login.ts:3:1)");

  it("searches for the first stack frame, in the property that the schema requires", async () => {
    const { parts, completed } = await ask("demo/triage", [report]);
    expect(callsOf(parts)).toEqual([["tools.search", { pattern: "submitLogin" }]]);
    expect(completed?.finishReason).toBe(FinishReason.TOOL_CALLS);
  });

  it("answers with JSON once the search has answered, whatever it answered", async () => {
    const found = await ask("demo/triage", [report, ...toolTurn("tools.search", "src/login.ts:3: function submitLogin()\nsrc/login.ts:9: submitLogin()")]);
    expect(JSON.parse(found.text)).toEqual({ summary: 'Login crashes. "submitLogin" is found in src/login.ts.', severity: "high" });
    const json = JSON.stringify({ matches: ["notes/a.md", "src/b.ts"].map((file) => ({ file, text: "submitLogin@https://host/c.ts" })) });
    const listed = await ask("demo/triage", [report, ...toolTurn("tools.search", json)]);
    expect(JSON.parse(listed.text).summary).toBe('Login crashes. "submitLogin" is found in src/b.ts, notes/a.md.');
    const denied = await ask("demo/triage", [report, ...toolTurn("tools.search", "denied by policy", true)]);
    expect(JSON.parse(denied.text).summary).toContain("denied by policy");
  });

  it("calls no tool but a search", async () => {
    const { parts, text } = await ask("demo/triage", [report], {}, TOOLS.slice(0, 2));
    expect(callsOf(parts)).toEqual([]);
    expect(JSON.parse(text)).toEqual({ summary: "Login crashes.", severity: "high" });
  });

  it("says so where the text is nothing like a bug report", async () => {
    const { text } = await ask("demo/triage", [user("Bring salad to the picnic.")]);
    expect(JSON.parse(text)).toEqual({ summary: "This does not look like a bug report: Bring salad to the picnic.", severity: "low" });
  });
});

describe("demo/chat", () => {
  it.each([
    ["run ls -la", ["tools.shell", { command: "ls -la" }]],
    ["read src/a.ts", ["tools.file", { action: "read", path: "src/a.ts" }]],
    ["search for needle", ["tools.search", { pattern: "needle" }]],
    ['use the tools.shell tool with {"command":"pwd"}', ["tools.shell", { command: "pwd" }]],
  ])("calls a tool when told %j", async (text, expected) => {
    expect(callsOf((await ask("demo/chat", [user(text)])).parts)).toEqual([expected]);
  });

  it("says what came of a call", async () => {
    expect((await ask("demo/chat", [user("run ls"), ...toolTurn("tools.shell", "a.txt")])).text).toBe("tools.shell answered:\n\na.txt");
    expect((await ask("demo/chat", [user("run ls"), ...toolTurn("tools.shell", "denied", true)])).text).toBe("tools.shell did not do it: denied");
  });

  it("names the tools it has where it lacks one", async () => {
    expect((await ask("demo/chat", [user("run ls")], {}, TOOLS.slice(2))).text).toContain("I have: tools.search.");
  });

  it("counts, thinks, and names the messages it has seen", async () => {
    expect((await ask("demo/chat", [user("count to 4")])).text).toBe("1 2 3 4");
    const thought = await ask("demo/chat", [user("think about lunch")]);
    expect(thought.parts.map((part) => part.kind.case)).toEqual(["reasoning", "text"]);
    expect((await ask("demo/chat", [user("a"), user("b"), user("c")])).text).toBe("I have seen 3 messages of yours. The last one was: c");
  });

  it("streams in pieces that make the whole", async () => {
    const { context, text } = await ask("demo/chat", [user("hello")]);
    const deltas = context.deltas.map((delta) => (delta.channel.case === "text" ? delta.channel.value : ""));
    expect(deltas.length).toBeGreaterThan(10);
    expect(deltas.join("")).toBe(text);
  });
});

describe("demo/flaky", () => {
  it("fails retryably before any output until it has failed often enough", async () => {
    const { outcome } = await run({ task: { model: "demo/flaky-2", failedAttempts: 1 }, conversation: { messages: [user("x")] } });
    expect(outcome).toMatchObject({
      case: "failure",
      value: { afterOutput: false, error: { code: ErrorCode.PROVIDER_ERROR, retryable: true, reason: "PROVIDER_UNAVAILABLE" } },
    });
    expect((await ask("demo/flaky-2", [user("x")], { failedAttempts: 2 })).text).toContain("attempt 3");
  });

  it("is refused by its right name where there is no such model", async () => {
    const { outcome, context } = await run({ task: { model: "demo/none" } });
    expect(outcome).toMatchObject({ case: "failure", value: { error: { code: ErrorCode.NOT_FOUND, reason: "MODEL_NOT_FOUND" } } });
    expect(context.starts).toHaveLength(0);
  });
});
