import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStatePath, resolveStatePath } from "./state-path.ts";

describe("parseStatePath", () => {
  it.each(["inputs.issue", "steps.a.summary", "steps.a-b.items.0", "inputs.名前", "steps.a"])("takes %s", (text) => {
    expect(parseStatePath(text)).toStrictEqual(text.split("."));
  });

  it.each([
    "inputs",
    "inputs.",
    "steps.a.",
    "steps..a",
    "steps. a",
    "inputs.x, please",
    "other.a",
    "",
    "inputs.__proto__",
    "steps.a.constructor.name",
    "inputs.{{x}}",
    "inputs.a\n",
    `inputs.${"a".repeat(1100)}`,
  ])("leaves %j a literal", (text) => {
    expect(parseStatePath(text)).toBeUndefined();
  });
});

describe("resolveStatePath", () => {
  const state = { inputs: { issue: "x", none: null }, steps: { a: { items: [{ n: 1 }, 2] } } };
  const resolve = (path: string): unknown => resolveStatePath(path.split("."), state);

  it("follows keys and indexes", () => {
    expect(resolve("steps.a.items.0.n")).toStrictEqual({ found: true, value: 1 });
    expect(resolve("inputs.none")).toStrictEqual({ found: true, value: null });
  });

  it.each<[string, number]>([
    ["steps.b.items", 1],
    ["steps.a.items.2", 3],
    ["steps.a.items.-1", 3],
    ["steps.a.items.length", 3],
    ["steps.a.items.00", 3],
    ["inputs.issue.length", 2],
    ["inputs.none.x", 2],
    ["inputs.toString", 1],
    ["inputs.__proto__", 1],
    ["steps.constructor", 1],
  ])("says which part of %s is missing", (path, missing) => {
    expect(resolve(path)).toStrictEqual({ found: false, missing });
  });

  it("follows no reserved name, also where the data has it as a key of its own", () => {
    const data: unknown = JSON.parse('{"inputs": {"__proto__": 1, "constructor": 2}}');
    for (const key of ["__proto__", "constructor", "prototype"]) expect(resolveStatePath(["inputs", key], data)).toStrictEqual({ found: false, missing: 1 });
  });

  it("never reaches a prototype, whatever the path", () => {
    const segment = fc.oneof(fc.constantFrom("inputs", "steps", "a", "items", "0", "__proto__", "constructor", "prototype", "length", "map"), fc.string());
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 8 }), (path) => {
        const resolved = resolveStatePath(path, state);
        if (resolved.found) expect(typeof resolved.value).not.toBe("function");
      }),
    );
  });
});
