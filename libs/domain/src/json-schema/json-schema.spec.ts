import type { JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { compileJsonSchema } from "./json-schema.ts";

function check(schema: JsonValue, value: JsonValue): string | undefined {
  const compiled = compileJsonSchema(schema);
  if (!compiled.ok) throw new Error(compiled.error.message);
  return compiled.check(value);
}

function problem(schema: JsonValue): { readonly path: readonly string[]; readonly message: string } {
  const compiled = compileJsonSchema(schema);
  if (compiled.ok) throw new Error("It was accepted.");
  return compiled.error;
}

const REVIEW: JsonValue = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { title: { type: "string", maxLength: 5 }, tags: { type: "array", items: { $ref: "#/$defs/tag" }, uniqueItems: true } },
  required: ["title"],
  additionalProperties: false,
  $defs: { tag: { enum: ["a", "b"] } },
};

describe("a JSON Schema", () => {
  it("says what is wrong with a value, and where", () => {
    expect(check(REVIEW, { title: "abc", tags: ["a", "b"] })).toBeUndefined();
    expect(check(REVIEW, {})).toBe("title must have required property 'title'");
    expect(check(REVIEW, { title: "a", tags: ["c"] })).toBe('tags.0 must be equal to one of the allowed values: "a", "b"');
    expect(check(REVIEW, { title: "a", tags: ["a", "a"] })).toBe("tags must not have two items that are the same");
    expect(check(REVIEW, { title: "a", text: 1 })).toBe("text must NOT have additional properties");
    expect(check(true, null)).toBeUndefined();
    expect(check(false, null)).toBe("boolean schema is false");
  });

  it("is that of 2020-12", () => {
    const schema: JsonValue = {
      type: "array",
      prefixItems: [{ type: "string" }],
      items: { type: "number" },
      unevaluatedItems: false,
      minContains: 1,
      contains: { const: 2 },
    };
    expect(check(schema, ["a", 1, 2])).toBeUndefined();
    expect(check(schema, [1, 2])).toBe("0 must be string");
    expect(check({ dependentSchemas: { a: { required: ["b"] } } }, { a: 1 })).toBe("b must have required property 'b'");
  });

  it("tells one regular expression from another", () => {
    const schema: JsonValue = { properties: { a: { pattern: "^[a-z]+$" }, b: { pattern: "^\\p{Lu}+$" } }, patternProperties: { _index$: { type: "number" } } };
    expect(check(schema, { a: "abc", b: "ÄÖ", x_index: 1 })).toBeUndefined();
    expect(check(schema, { a: "ABC" })).toBe('a must match pattern "^[a-z]+$"');
    expect(check(schema, { b: "abc" })).toBe('b must match pattern "^\\p{Lu}+$"');
    expect(check(schema, { x_index: "1" })).toBe("x_index must be number");
  });

  it("takes what it does not know as a note, as the specification says", () => {
    expect(check({ "x-note": 1, type: "string", format: "email" }, "no address")).toBeUndefined();
  });

  it.each<[string, JsonValue, readonly string[], string]>([
    ["a list", [], [], "a JSON Schema is a mapping"],
    ["an unknown type", { properties: { a: { type: "strin" } } }, ["properties", "a", "type"], "must be"],
    ["a negative bound", { maxLength: -1 }, ["maxLength"], "must be >= 0"],
    ["another dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, ["$schema"], "the dialect is"],
    ["a reference to nothing", { $ref: "#/$defs/a" }, [], "can't resolve reference #/$defs/a"],
    ["a reference to elsewhere", { $ref: "https://example.org/a.json" }, [], "can't resolve reference"],
    ["a broken pattern", { pattern: "(" }, [], "is not one of RE2"],
    ["a pattern that looks back", { pattern: "(a)\\1" }, [], "is not one of RE2"],
    ["a promise", { $async: true }, ["$async"], "no keyword"],
  ])("can't be %s", (_name, schema, path, message) => {
    const error = problem(schema);
    expect(error.path).toEqual(path);
    expect(error.message).toContain(message);
  });

  it("reaches nothing that only the language has", () => {
    expect(check({ required: ["constructor"] }, {})).toBe("constructor must have required property 'constructor'");
    expect(
      check(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as JsonValue, JSON.parse('{"__proto__":{"polluted":1}}') as JsonValue),
    ).toBeUndefined();
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it.each<[string, JsonValue, JsonValue]>([
    ["a pattern that doubles", { pattern: "^(a+)+$" }, `${"a".repeat(100_000)}!`],
    [
      "references that double",
      {
        $ref: "#/$defs/s0",
        $defs: Object.fromEntries(
          Array.from({ length: 60 }, (_, index): [string, JsonValue] => [
            `s${index}`,
            index === 59 ? { type: "string" } : { allOf: [{ $ref: `#/$defs/s${index + 1}` }, { $ref: `#/$defs/s${index + 1}` }] },
          ]),
        ),
      },
      "a",
    ],
    ["a reference to itself", { $ref: "#" }, 1],
    [
      "a tree that doubles",
      { properties: { a: { allOf: [{ $ref: "#" }, { $ref: "#" }] } } },
      Array.from({ length: 150 }, (): JsonValue => 1).reduce((inner): JsonValue => ({ a: inner })),
    ],
    ["a long list without twins", { uniqueItems: true }, Array.from({ length: 50_000 }, (_, index) => ({ index }))],
    [
      "a long enumeration of a long list",
      { items: { enum: Array.from({ length: 5_000 }, (_, index) => ({ index })) } },
      Array.from({ length: 50_000 }, () => ({ index: 4_999 })),
    ],
  ])("ends soon with %s", (_name, schema, value) => {
    const started = performance.now();
    check(schema, value);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
