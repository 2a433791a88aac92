import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { RiskLevel } from "@forge/protocol/tool";
import { TaskFailureSchema } from "@forge/protocol/worker";
import { describe, expect, test } from "vitest";
import { callTool } from "../testing/call-tool.ts";
import { policyLayer } from "./policy-layer.ts";
import type { JsonValue, ToolCall, ToolDefinition } from "./tool-definition.ts";
import type { Layer } from "./tool-layer.ts";

function tool(execute: (call: ToolCall) => JsonValue | Promise<JsonValue>): ToolDefinition<object> {
  return {
    name: "tools.any",
    description: "",
    inputSchema: { type: "object" },
    idempotent: false,
    risk: RiskLevel.EXECUTE,
    timeoutMs: 10_000,
    execute: async (_, call) => execute(call),
  };
}

describe("what a model is shown of one call is bounded", () => {
  test("20 MB on one line: beginning and end with a mark between, the whole in artifacts, in order", async () => {
    const line = `begin ${"x".repeat(20_000_000)} end`;
    const { output, outcome, context } = await callTool(
      tool(() => ({ exit_code: 0, stdout: line })),
      {},
      { sessionId: "s" },
    );
    const value = outcome.case === "tool" ? outcome.value.output?.kind : undefined;
    expect([value?.case, Buffer.byteLength(value?.case === "json" ? value.value : "") <= 65_536]).toEqual(["json", true]);
    expect(output).toMatchObject({ exit_code: 0, stdout: expect.stringMatching(/^begin x+\n\[19976010 characters left out here\]\nx+ end$/s) as string });
    const whole = output?.whole_output as { bytes: number; artifacts: string[] };
    const pieces = whole.artifacts.map((sha256) => context.artifacts.get(sha256) as Uint8Array);
    expect(pieces.every((piece) => piece.length <= 16 * 1024 * 1024)).toBe(true);
    expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual({ exit_code: 0, stdout: line });
    expect(whole.bytes).toBe(Buffer.concat(pieces).length);
  });

  test("characters of more bytes, many short texts, and an array at the top", async () => {
    for (const value of [
      "😀".repeat(100_000),
      "\u0000".repeat(100_000),
      Array.from({ length: 50_000 }, (_, index) => `item ${index}`),
      { a: Array.from({ length: 9_000 }, () => "ü".repeat(50)) },
    ]) {
      const { outcome, output } = await callTool(
        tool(() => value),
        {},
        { sessionId: "s" },
      );
      const shown = outcome.case === "tool" && outcome.value.output?.kind.case === "json" ? outcome.value.output.kind.value : "";
      expect([
        shown !== "" && Buffer.byteLength(shown) <= 65_536,
        shown.isWellFormed(),
        (output?.whole_output as { artifacts: string[] } | undefined)?.artifacts.length,
      ]).toEqual([true, true, 1]);
    }
  });

  test("what fits is left as it is, and a run's step is given the whole", async () => {
    expect(
      (
        await callTool(
          tool(() => "x".repeat(60_000)),
          {},
          { sessionId: "s" },
        )
      ).output,
    ).toBe("x".repeat(60_000));
    const { outcome, output } = await callTool(
      tool(() => "x".repeat(100_000)),
      {},
    );
    expect([outcome.case === "tool" ? outcome.value.output?.kind.case : "", output]).toEqual(["artifact", "x".repeat(100_000)]);
  });
});

describe("layers of a host", () => {
  test("are around a call in their order, and see it before it starts and after it ended", async () => {
    const seen: string[] = [];
    const layer =
      (name: string): Layer =>
      (next) =>
      async (invocation) => {
        seen.push(`${name} in`);
        const outcome = await next(invocation);
        seen.push(`${name} out ${outcome.case}`);
        return outcome;
      };
    await callTool(
      tool(() => (seen.push("call"), null)),
      {},
      { pipeline: { layers: [layer("a"), layer("b")] } },
    );
    expect(seen).toEqual(["a in", "b in", "call", "b out tool", "a out tool"]);
  });

  test("a policy may refuse a call, which then has not begun, or answer in its place", async () => {
    let called = 0;
    const definition = tool(() => ++called);
    const refuse = policyLayer({
      beforeCall: ({ tool: name, args }) => {
        throw new ForgeError(ErrorCode.PERMISSION_DENIED, `${name} ${JSON.stringify(args)} on no day`);
      },
    });
    const refused = await callTool(definition, { day: 1 }, { pipeline: { layers: [refuse] } });
    expect([refused.error, refused.context.starts, called]).toMatchObject([
      { code: ErrorCode.PERMISSION_DENIED, message: 'tools.any {"day":1} on no day' },
      [],
      0,
    ]);
    const hide = policyLayer({ afterCall: () => ({ case: "failure", value: create(TaskFailureSchema) }) });
    expect([(await callTool(definition, {}, { pipeline: { layers: [hide] } })).outcome.case, called]).toEqual(["failure", 1]);
  });

  test("are not passed by what is only told beforehand", async () => {
    let passed = 0;
    const count: Layer = (next) => (invocation) => (passed++, next(invocation));
    const outcome = await callTool(
      tool(() => null),
      {},
      { preview: true, pipeline: { layers: [count] } },
    );
    expect([outcome.error?.reason, passed]).toEqual(["NO_PREVIEW", 0]);
  });
});

test("progress and reports of its own are told, bounded in size and number", async () => {
  const { context, error } = await callTool(
    tool((call) => {
      call.progress("half", 0.5);
      call.progress("x".repeat(2_000), 7);
      call.structured("app.row", { row: 1 });
      for (let index = 0; index < 2_000; index++) call.progress("more");
      call.structured("app.row", "x".repeat(20_000));
      return null;
    }),
    {},
  );
  expect(context.reports.slice(0, 3)).toMatchObject([
    { case: "progress", value: { message: "half", fraction: 0.5, offset: 0n, epoch: 3 } },
    { case: "progress", value: { message: "x".repeat(1_024), fraction: 1, offset: 1n } },
    { case: "structured", value: { type: "app.row", json: '{"row":1}', offset: 0n } },
  ]);
  expect([context.reports.length, error?.code]).toEqual([1_000, ErrorCode.VALIDATION]);
});
