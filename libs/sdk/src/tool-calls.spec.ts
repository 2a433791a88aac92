import { ErrorCode } from "@forge/protocol/common";
import { RiskLevel } from "@forge/protocol/tool";
import type { Outcome } from "@forge/worker";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineFunction } from "./define-function.ts";
import { defineTool, type ToolOptions } from "./define-tool.ts";
import type { Definition } from "./definition.ts";
import { createHandlers } from "./handlers.ts";
import { InputRequired } from "./input-required.ts";
import type { Preview } from "./preview.ts";
import { recordingLogger, type TestContext, taskContext } from "./testing/task-context.ts";

type Options = ToolOptions<z.ZodObject<{ n: z.ZodNumber }>>;

function tool(options: Partial<Options> = {}): Definition {
  return defineTool({ name: "test.tool", description: "", input: z.object({ n: z.number() }), run: () => "done", ...options });
}

function toolTask(fields: object = {}): TestContext {
  return taskContext({ kind: { case: "tool", value: { tool: "test.tool", argumentsJson: '{"n": 1}', ...fields } }, needsStart: true });
}

async function settled(definition: Definition, context: TestContext): Promise<Outcome> {
  const [handler] = createHandlers([definition], { logger: recordingLogger() });
  return (await handler?.run(context)) as Outcome;
}

function error(code: ErrorCode, reason: string, message = expect.any(String)) {
  return { case: "failure", value: { unknown: false, error: { code, reason, message } } };
}

describe("a preview", () => {
  const told: Preview = {
    title: "count\nto 1",
    diff: "-0\n+1\n",
    risk: "read",
    facts: { b: [1], a: null },
    ruleKey: "count",
    ruleTitle: "counting",
    paths: ["a"],
  };

  it("is registered, and told without a start", async () => {
    const [handler] = createHandlers([tool({ preview: () => told })], { logger: recordingLogger() });
    expect(handler?.capability.tool?.previews).toBe(true);
    expect(createHandlers([tool()], { logger: recordingLogger() })[0]?.capability.tool?.previews).toBe(false);
    const context = toolTask({ preview: true });
    expect(await settled(tool({ preview: () => told, run: () => expect.fail("called") }), context)).toMatchObject({
      case: "preview",
      value: {
        title: "count?to 1",
        diff: "-0\n+1\n",
        risk: RiskLevel.READ,
        factsJson: '{"a":null,"b":[1]}',
        ruleKey: "count",
        ruleTitle: "counting",
        paths: ["a"],
      },
    });
    expect(context.started).toEqual([]);
  });

  it("is compared right before the call, whatever the order of its keys", async () => {
    let facts: object = { b: [1], a: null };
    const definition = tool({ preview: () => ({ title: "", facts }) });
    const previewed = { factsJson: '{"a":null,"b":[1]}' };
    expect(await settled(definition, toolTask({ previewed }))).toMatchObject({ case: "tool" });
    facts = { a: null, b: [2] };
    const run = (): never => expect.fail("called");
    expect(await settled(tool({ preview: () => ({ title: "", facts }), run }), toolTask({ previewed }))).toMatchObject(
      error(ErrorCode.CONFLICT, "PREVIEW_STALE"),
    );
  });

  it("is not asked for where nothing was shown", async () => {
    expect(await settled(tool({ preview: () => expect.fail("asked") }), toolTask())).toMatchObject({ case: "tool" });
  });

  it("keeps a large diff whole beside its beginning", async () => {
    const context = toolTask({ preview: true });
    const outcome = await settled(tool({ preview: () => ({ title: "", diff: `x${"ä".repeat(20_000)}` }) }), context);
    if (outcome.case !== "preview") return expect.fail(outcome.case);
    expect(outcome.value.diff).toBe(`x${"ä".repeat(16_383)}`);
    expect(Buffer.from(context.artifacts.get(outcome.value.diffArtifact?.sha256 ?? "") ?? []).toString()).toBe(`x${"ä".repeat(20_000)}`);
  });

  it.each([
    [{ title: "", risk: "execute" }, "no more than the tool's"],
    [{ title: "", facts: "x".repeat(9_000) }, "at most 8192 bytes"],
    [{ title: "", facts: { at: new Date() } }, "Date"],
    [{ title: "", ruleKey: "x".repeat(513) }, "at most 512"],
    [{ title: "", paths: "a" }, "a list of strings"],
    [undefined, "an object with a title"],
  ])("such as %j is refused", async (preview, what) => {
    const outcome = await settled(tool({ risk: "change", preview: () => preview as never }), toolTask({ preview: true }));
    expect(outcome).toMatchObject(error(ErrorCode.VALIDATION, "TOOL_RESULT", expect.stringContaining(what)));
  });

  it("is not there for a tool without", async () => {
    expect(await settled(tool(), toolTask({ preview: true }))).toMatchObject(error(ErrorCode.UNSUPPORTED, "NO_PREVIEW"));
  });
});

describe("a tool that asks", () => {
  const asks = tool({
    run: (_, { inputs, resume }) => {
      if (inputs.length === 0) throw new InputRequired("Which colour?", { step: 2 });
      return { inputs, resume };
    },
  });

  it("ends its call, and goes on with the answer", async () => {
    expect(await settled(asks, toolTask())).toMatchObject({ case: "inputRequired", value: { question: "Which colour?", resumeJson: '{"step":2}' } });
    expect(await settled(asks, toolTask({ providedInputs: ["red"], resumeJson: '{"step":2}' }))).toMatchObject({
      value: { output: { kind: { value: '{"inputs":["red"],"resume":{"step":2}}' } } },
    });
  });

  it.each([
    ["question", "", undefined],
    ["question", "x".repeat(4_097), undefined],
    ["resume", "Which?", "x".repeat(16_384)],
  ])("has no such %s", (field, question, resume) => {
    expect(() => new InputRequired(question, resume)).toThrow(expect.objectContaining({ detail: expect.objectContaining({ metadata: { field } }) }));
  });

  it("is one: a function that does so fails", async () => {
    const definition = defineFunction({
      name: "a.b",
      run: () => {
        throw new InputRequired("Which?");
      },
    });
    const context = taskContext({ kind: { case: "function", value: { name: "a.b" } } });
    expect(await settled(definition, context)).toMatchObject({ case: "failure" });
  });
});

describe("notes of a call", () => {
  it("go beside its output, and are bounded", async () => {
    const context = toolTask();
    const run: Options["run"] = (_, call) => {
      call.progress("half", 0.5);
      call.progress("x".repeat(2_000), 7);
      call.structured("my.chart", { points: [1, 2] });
      for (let count = 0; count < 2_000; count++) call.progress("more");
    };
    expect((await settled(tool({ run }), context)).case).toBe("tool");
    expect(context.reported).toHaveLength(1_000);
    expect(context.reported.slice(0, 4)).toMatchObject([
      { case: "progress", value: { message: "half", fraction: 0.5, offset: 0n } },
      { case: "progress", value: { message: "x".repeat(1_024), fraction: 1, offset: 1n } },
      { case: "structured", value: { type: "my.chart", json: '{"points":[1,2]}', offset: 0n } },
      { case: "progress", value: { message: "more", offset: 2n } },
    ]);
  });

  it.each([
    ["", 1],
    ["x".repeat(129), 1],
    ["type", "x".repeat(16_384)],
    ["type", undefined],
  ])("of the type %j are refused where they can't be kept", async (type, value) => {
    expect(await settled(tool({ run: (_, call) => call.structured(type, value) }), toolTask())).toMatchObject(error(ErrorCode.VALIDATION, ""));
  });
});
