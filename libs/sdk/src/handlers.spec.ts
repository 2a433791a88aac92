import { createFakeContext } from "@forge/agent/testing";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { Role } from "@forge/protocol/session";
import { CapabilityKind } from "@forge/protocol/worker";
import type { Outcome, TaskHandler } from "@forge/worker";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ToolContext } from "./context.ts";
import { defineFunction } from "./define-function.ts";
import { defineProvider } from "./define-provider.ts";
import { defineTool, type ToolOptions } from "./define-tool.ts";
import type { Definition } from "./definition.ts";
import { createHandlers } from "./handlers.ts";
import { shoutingModel } from "./testing/shouting-model.ts";
import { recordingLogger, taskContext } from "./testing/task-context.ts";

const logger = recordingLogger();

function handler(definition: Definition, graceMs?: number): TaskHandler {
  return createHandlers([definition], { logger, graceMs })[0] as TaskHandler;
}

function toolOf(run: ToolOptions<z.ZodObject<{ n: z.ZodNumber }>>["run"], timeoutMs?: number): Definition {
  return defineTool({ name: "test.tool", description: "", input: z.object({ n: z.number() }), timeoutMs, run });
}

function toolTask(argumentsJson = '{"n": 1}') {
  const value = { tool: "test.tool", argumentsJson, toolCallId: "tool-call-1", sessionId: "session-1", turnId: "turn-1" };
  return { kind: { case: "tool" as const, value }, needsStart: true };
}

function errorOf(outcome: Outcome): { code?: ErrorCode; reason?: string; message?: string; unknown: boolean } {
  if (outcome.case !== "failure") throw new Error(`no failure but ${outcome.case}`);
  const { error, unknown } = outcome.value;
  return { code: error?.code, reason: error?.reason, message: error?.message, unknown };
}

describe("a tool that is served", () => {
  it("starts, is told all about its call, shows output and settles with what it returned", async () => {
    const context = taskContext(toolTask());
    let given: ToolContext | undefined;
    const outcome = await handler(
      toolOf(({ n }, call) => {
        given = call;
        call.report("one ");
        call.report("two");
        return { twice: n * 2 };
      }),
    ).run(context);
    expect(outcome).toMatchObject({ case: "tool", value: { output: { kind: { case: "json", value: '{"twice":2}' } } } });
    expect(context.started).toHaveLength(1);
    expect(given).toMatchObject({ toolCallId: "tool-call-1", sessionId: "session-1", turnId: "turn-1", idempotencyKey: "key-1" });
    expect(given).not.toHaveProperty("runId");
    expect(context.reported.map((kind) => kind.value)).toMatchObject([
      { offset: 0n, text: "one " },
      { offset: 4n, text: "two" },
    ]);
  });

  it("is told the run and step that it works for", async () => {
    let given: ToolContext | undefined;
    const value = { tool: "test.tool", argumentsJson: '{"n": 1}', runId: "run-1", stepId: "step-1" };
    await handler(toolOf((_, call) => void (given = call))).run(taskContext({ kind: { case: "tool", value } }));
    expect(given).toMatchObject({ runId: "run-1", stepId: "step-1" });
    expect(given).not.toHaveProperty("sessionId");
  });

  it("is not started for arguments that don't match", async () => {
    const context = taskContext(toolTask('{"n": "1"}'));
    const outcome = await handler(toolOf(() => expect.fail("called"))).run(context);
    expect(errorOf(outcome)).toMatchObject({ code: ErrorCode.VALIDATION, reason: "TOOL_ARGUMENTS", unknown: false });
    expect(context.started).toEqual([]);
  });

  it("returns nothing as null, and what JSON can't hold as an error that names the place", async () => {
    expect(await handler(toolOf(() => undefined)).run(taskContext(toolTask()))).toMatchObject({ value: { output: { kind: { value: "null" } } } });
    expect(errorOf(await handler(toolOf(() => ({ at: [new Date()] }))).run(taskContext(toolTask())))).toMatchObject({
      reason: "TOOL_RESULT",
      message: expect.stringContaining("result.at[0] is an instance of Date"),
    });
  });

  it("fails with the ForgeError that it throws, and with the message of anything else, whose stack is logged only", async () => {
    const own = new ForgeError(ErrorCode.NOT_FOUND, "no such city", { reason: "CITY_NOT_FOUND" });
    expect(errorOf(await handler(toolOf(() => Promise.reject(own))).run(taskContext(toolTask())))).toMatchObject({
      code: ErrorCode.NOT_FOUND,
      reason: "CITY_NOT_FOUND",
    });
    const thrown = errorOf(
      await handler(
        toolOf(() => {
          throw new TypeError("out of luck");
        }),
      ).run(taskContext(toolTask())),
    );
    expect(thrown).toMatchObject({ code: ErrorCode.INTERNAL, message: "test.tool threw TypeError: out of luck" });
    expect(logger.lines.at(-1)).toContain("handlers.spec.ts");
  });

  it("ends at its own deadline, and as cancelled where it was cancelled", async () => {
    const waits = (_: unknown, { signal }: ToolContext) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
    expect(errorOf(await handler(toolOf(waits, 10)).run(taskContext(toolTask())))).toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED });
    const context = taskContext(toolTask());
    const running = handler(toolOf(waits)).run(context);
    context.cancel();
    expect((await running).case).toBe("cancelled");
  });

  it("is settled as unknown where it goes on after its signal, in a process that nobody can end", async () => {
    const context = taskContext(toolTask());
    const deaf = toolOf(() => {
      context.cancel();
      return new Promise(() => undefined);
    });
    expect(errorOf(await handler(deaf, 10).run(context))).toMatchObject({ reason: "STOP_UNCONFIRMED", unknown: true });
  });

  it("keeps what it achieved, though its signal came", async () => {
    const context = taskContext(toolTask());
    const outcome = await handler(
      toolOf(() => {
        context.cancel();
        return "done";
      }),
    ).run(context);
    expect(outcome.case).toBe("tool");
  });
});

describe("a function that is served", () => {
  const task = (n: string) => ({
    kind: {
      case: "function" as const,
      value: { runId: "run-1", stepId: "step-1", attempt: 2, name: "a.b", input: { n: { kind: { case: "json" as const, value: n } } } },
    },
  });

  it("is called with its inputs by name, converted, and told its step", async () => {
    const context = taskContext(task('"4"'));
    const definition = defineFunction({
      name: "a.b",
      input: z.object({ n: z.coerce.number() }),
      run: ({ n }, { runId, stepId, attempt, idempotencyKey }) => ({ n, runId, stepId, attempt, idempotencyKey }),
    });
    const outcome = await handler(definition).run(context);
    expect(outcome).toMatchObject({ case: "function" });
    expect(JSON.parse((outcome.value as { output: { kind: { value: string } } }).output.kind.value)).toEqual({
      n: 4,
      runId: "run-1",
      stepId: "step-1",
      attempt: 2,
      idempotencyKey: "key-1",
    });
    // Idempotent: no start is needed, and none is made.
    expect(context.started).toEqual([]);
  });

  it("takes any input without a schema, and refuses a wrong one with its field", async () => {
    expect((await handler(defineFunction({ name: "a.b", run: (input) => ({ input }) })).run(taskContext(task("[1]")))).case).toBe("function");
    const strict = defineFunction({ name: "a.b", input: z.object({ n: z.number() }), run: () => ({}) });
    expect(errorOf(await handler(strict).run(taskContext(task('"x"'))))).toMatchObject({
      reason: "FUNCTION_INPUT",
      message: expect.stringContaining("input.n"),
    });
  });

  it("returns an object, or fails", async () => {
    expect(errorOf(await handler(defineFunction({ name: "a.b", run: () => 3 })).run(taskContext(task("1"))))).toMatchObject({ reason: "FUNCTION_RESULT" });
  });
});

describe("a provider that is served", () => {
  const shout = defineProvider({
    name: "shout",
    languageModel: shoutingModel,
    secrets: ["hunter2hunter2"],
    prices: { "shout/*": { input: 1_000_000, cached_input: 0, output: 1_000_000 } },
  });

  it("answers as any provider's models do, with its own prices", async () => {
    const served = handler(shout);
    expect(served.capability).toMatchObject({ kind: CapabilityKind.MODEL, name: "shout/*" });
    const context = createFakeContext({
      task: { model: "shout/loud" },
      conversation: { messages: [{ role: Role.USER, parts: [{ kind: { case: "text", value: { text: "hello" } } }] }] },
    });
    const outcome = await served.run(context);
    expect(outcome).toMatchObject({ case: "model", value: { usage: { inputTokens: 3n, outputTokens: 2n, costMicroUsd: 5n } } });
    expect(outcome.value).toMatchObject({ completed: { parts: [{ kind: { case: "text", value: { text: "HELLO" } } }] } });
  });

  it("removes its secrets from what it says", () => {
    expect(shout[Symbol.for("forge.definition") as never]).toBe("provider");
    expect("provider" in shout && shout.provider.scrub("the key hunter2hunter2 is wrong")).toBe("the key [redacted] is wrong");
  });

  it.each(["with/slash", "", "with space"])("has no name such as %j", (name) => {
    expect(() => defineProvider({ name, languageModel: shoutingModel })).toThrow(expect.objectContaining({ reason: "DEFINITION" }));
  });
});

it("refuses two definitions of one name, but not of two kinds", () => {
  const tool = toolOf(() => null);
  const other = defineFunction({ name: "test.tool", run: () => ({}) });
  expect(createHandlers([tool, other], { logger })).toHaveLength(2);
  expect(() => createHandlers([tool, tool], { logger })).toThrow("tool test.tool is defined twice");
});
