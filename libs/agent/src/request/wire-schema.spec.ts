import { describe, expect, it } from "vitest";
import { toWireSchema } from "./wire-schema.ts";

describe("a tool's schema on the wire", () => {
  it.each([
    [{}, { type: "object", properties: {} }],
    [true, { type: "object", properties: {} }],
    [{ type: "object" }, { type: "object", properties: {} }],
    [
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        properties: { a: { anyOf: [{ type: "string" }] } },
        oneOf: [{ required: ["a"] }],
        required: ["a"],
      },
      { type: "object", properties: { a: { anyOf: [{ type: "string" }] } }, required: ["a"] },
    ],
  ])("of %j is one that every provider takes", (schema, expected) => {
    expect(toWireSchema(schema)).toEqual(expected);
  });

  it("keeps the order of what it keeps, so that the prompt's cache holds", () => {
    const schema = { type: "object", properties: { b: {}, a: {} }, required: ["b"], additionalProperties: false };
    expect(JSON.stringify(toWireSchema(schema))).toBe(JSON.stringify(schema));
  });
});
