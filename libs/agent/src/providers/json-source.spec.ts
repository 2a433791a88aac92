import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argumentsAsText } from "./google-arguments.ts";
import { findValues } from "./json-source.ts";

function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)[key], root);
}

describe("the source of JSON values", () => {
  it("is found for every value of any JSON, however it is spaced", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"), (json, space) => {
        const text = JSON.stringify(JSON.parse(json), undefined, space);
        const root: unknown = JSON.parse(text);
        const places = findValues(text);
        expect(places.at(-1)).toEqual({ path: [], start: 0, end: text.length });
        for (const { path, start, end } of places) expect(JSON.parse(text.slice(start, end))).toEqual(valueAt(root, path));
      }),
    );
  });

  it("is no deeper than need be, and never takes for ever", () => {
    const depth = 50_000;
    const text = `{"a":${"[".repeat(depth)}"]}"${"]".repeat(depth)},"b":1}`;
    const places = findValues(text);
    expect(places.at(-1)).toEqual({ path: [], start: 0, end: text.length });
    expect(places.length).toBeLessThan(100);
  });

  it("refuses what is no JSON", () => {
    expect(() => findValues('{"a":')).toThrow(SyntaxError);
  });
});

describe("arguments in Google's events", () => {
  const event = (args: string) => `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":${args}}},{"text":"args"}]}}]}`;

  it("are kept as text, byte for byte", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 2), (value, space) => {
        const args = JSON.stringify(value, undefined, space);
        const rewritten = JSON.parse(argumentsAsText(event(args))) as { candidates: [{ content: { parts: [{ functionCall: { args: string } }] } }] };
        expect(rewritten.candidates[0].content.parts[0].functionCall.args).toBe(args);
      }),
    );
  });

  it.each(['{"a":1', '{"candidates":[]}', event("null"), '{"x":{"functionCall":{"args":{"a":1}}}}'])("leaves %s as it is", (text) => {
    expect(argumentsAsText(text)).toBe(text);
  });
});
