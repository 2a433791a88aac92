import { durationMs } from "@bufbuild/protobuf/wkt";
import { RiskLevel } from "@forge/protocol/tool";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { defineTool, type ToolOptions } from "./define-tool.ts";

const input = z.object({ city: z.string().min(1).describe("Where."), days: z.number().int().default(3) });

function weather(options: Partial<ToolOptions<z.ZodType>> = {}) {
  return defineTool({ name: "weather.forecast", description: "Tells the weather.", input, run: () => null, ...options });
}

describe("defineTool", () => {
  it("makes the spec that workers register, careful where nothing was said", () => {
    const { spec } = weather();
    expect(JSON.parse(spec.inputSchemaJson)).toEqual({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        city: { type: "string", minLength: 1, description: "Where." },
        days: { type: "integer", default: 3, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      },
      // What has a default may be left out.
      required: ["city"],
    });
    expect([spec.name, spec.idempotent, spec.risk, spec.timeout === undefined ? 0 : durationMs(spec.timeout)]).toEqual([
      "weather.forecast",
      false,
      RiskLevel.EXECUTE,
      60_000,
    ]);
    expect(weather({ risk: "read", idempotent: true, timeoutMs: 5 }).spec).toMatchObject({ risk: RiskLevel.READ, idempotent: true });
  });

  it("gives run what the schema makes of the input", () => {
    defineTool({
      name: "a",
      description: "",
      input,
      run: (value, context) => {
        expectTypeOf(value).toEqualTypeOf<{ city: string; days: number }>();
        expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
      },
    });
  });

  it.each([
    ["name", { name: "with space" }],
    ["name", { name: "" }],
    ["description", { description: "x".repeat(4_097) }],
    ["risk", { risk: "none" as never }],
    ["timeoutMs", { timeoutMs: 0 }],
    ["timeoutMs", { timeoutMs: Number.NaN }],
    ["input", { input: z.string() }],
    ["input", { input: z.object({ at: z.date() }) }],
    ["input", { input: z.object({ text: z.string().describe("x".repeat(20_000)) }) }],
  ])("refuses a wrong %s, naming the field", (field, options) => {
    expect(() => weather(options)).toThrow(expect.objectContaining({ reason: "DEFINITION", detail: expect.objectContaining({ metadata: { field } }) }));
  });
});

describe("a tool's arguments", () => {
  it("are checked, converted and completed", async () => {
    await expect(weather().parse({ city: "Oslo" })).resolves.toEqual({ city: "Oslo", days: 3 });
  });

  it("are refused with every field that is wrong, the first one named for machines", async () => {
    const nested = weather({ input: z.strictObject({ items: z.array(z.object({ name: z.string() })), ok: z.boolean() }) });
    await expect(nested.parse({ items: [{ name: "a" }, { name: 1 }], more: 1 })).rejects.toMatchObject({
      reason: "TOOL_ARGUMENTS",
      detail: { metadata: { field: "arguments.items.1.name" } },
      message: expect.stringMatching(/^arguments\.items\.1\.name: .*string.*; arguments\.ok: .*; arguments\.more: .*; the tool was not called$/),
    });
  });

  it("are refused in a message of a bounded size", async () => {
    const many = weather({ input: z.object(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`field${index}`, z.string()]))) });
    await expect(many.parse({})).rejects.toMatchObject({ message: expect.stringMatching(/field4: .*; and 35 more; the tool was not called$/) });
  });
});
