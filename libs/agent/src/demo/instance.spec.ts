import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { demoTurn } from "../testing/demo-turn.ts";
import { instanceOf } from "./instance.ts";

const SCHEMAS: readonly object[] = [
  {
    type: "object",
    properties: { a: { type: "string", minLength: 30 }, b: { type: "integer", minimum: 3 }, c: { type: "boolean" } },
    required: ["a", "b", "c"],
  },
  { type: "object", properties: { list: { type: "array", minItems: 2, items: { enum: ["x", "y"] } } }, required: ["list"], additionalProperties: false },
  { anyOf: [{ type: "null" }, { type: "string" }] },
  { type: ["number", "null"], exclusiveMinimum: 4 },
  { const: { a: 1 } },
  { type: "string", maxLength: 2 },
];

describe("an instance of a schema", () => {
  it.each(SCHEMAS.map((schema) => [JSON.stringify(schema)]))("matches %s", (json) => {
    const schema = JSON.parse(json) as object;
    expect(new Ajv({ strict: false }).validate(schema, instanceOf(schema, "said"))).toBe(true);
  });

  it("is how demo/chat answers where its answer must match one", async () => {
    const outputSchemaJson = JSON.stringify({ type: "object", properties: { text: { type: "string" } }, required: ["text"] });
    const { text } = await demoTurn("demo/chat", [], () => "", { outputSchemaJson }).ask("count to 3");
    expect(JSON.parse(text)).toEqual({ text: "1 2 3" });
  });
});
