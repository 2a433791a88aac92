import type { JsonValue } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffJson } from "./json-diff.ts";

describe("the differences of two states", () => {
  it("are named by path, with what was there and what is", () => {
    const before = { inputs: { n: 1 }, steps: { parse: { title: "a", frames: [1, 2, 3], gone: null } } };
    const after = { inputs: { n: 1 }, steps: { parse: { title: "b", frames: [1, 5] }, search: { files: [] } } };
    expect(diffJson(before, after, "")).toEqual([
      { marker: "~", path: "steps.parse.title", before: "a", after: "b" },
      { marker: "~", path: "steps.parse.frames[1]", before: 2, after: 5 },
      { marker: "-", path: "steps.parse.frames[2]", before: 3 },
      { marker: "-", path: "steps.parse.gone", before: null },
      { marker: "+", path: "steps.search", after: { files: [] } },
    ]);
  });

  it("quote keys that are no plain names", () => {
    expect(diffJson({}, { "a.b": 1, "": 2, 'q"': 3, ok_1: 4 }, "steps").map(({ path }) => path)).toEqual([
      'steps["a.b"]',
      'steps[""]',
      'steps["q\\""]',
      "steps.ok_1",
    ]);
  });

  it("reach no member that only the language has", () => {
    expect(diffJson({}, JSON.parse('{"__proto__":{"x":1},"constructor":1}') as JsonValue, "")).toEqual([
      { marker: "+", path: "__proto__", after: { x: 1 } },
      { marker: "+", path: "constructor", after: 1 },
    ]);
  });

  it("tell a changed type as a change, not as its parts", () => {
    expect(diffJson({ a: [1] }, { a: { 0: 1 } }, "")).toEqual([{ marker: "~", path: "a", before: [1], after: { 0: 1 } }]);
    expect(diffJson({ a: null }, { a: {} }, "")).toEqual([{ marker: "~", path: "a", before: null, after: {} }]);
  });

  it("are none exactly where both are the same, and turn around with them", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [left, right] = [JSON.parse(JSON.stringify(a)) as JsonValue, JSON.parse(JSON.stringify(b)) as JsonValue];
        expect(diffJson(left, structuredClone(left), "")).toEqual([]);
        const there = diffJson(left, right, "");
        expect(there.length === 0).toBe(JSON.stringify(sorted(left)) === JSON.stringify(sorted(right)));
        const turned = { "+": "-", "-": "+", "~": "~" } as const;
        const back = diffJson(right, left, "").map(({ marker, path }) => `${turned[marker]} ${path}`);
        expect(there.map(({ marker, path }) => `${marker} ${path}`).toSorted()).toEqual(back.toSorted());
      }),
    );
  });
});

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value === 0 ? 0 : value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
