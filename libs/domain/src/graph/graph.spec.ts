import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Ancestors } from "./ancestors.ts";
import { cycleOf, type Needs } from "./cycle-of.ts";

const graph = (needs: Readonly<Record<string, readonly string[]>>): Needs => new Map(Object.entries(needs));

describe("what steps need of each other", () => {
  it("shows a cycle as the way around it", () => {
    expect(cycleOf(graph({ a: ["b"], b: ["c"], c: ["b"] }))).toEqual(["b", "c", "b"]);
    expect(cycleOf(graph({ a: ["a"] }))).toEqual(["a", "a"]);
    expect(cycleOf(graph({ a: [], b: ["a", "nowhere"], c: ["a", "b"] }))).toBeUndefined();
  });

  it("knows what comes before over all steps between", () => {
    const ancestors = new Ancestors(graph({ a: [], b: ["a"], c: ["b"], d: [] }));
    expect(["a", "b", "c", "d", "x"].filter((id) => ancestors.has("c", id))).toEqual(["a", "b"]);
    expect(ancestors.has("x", "a")).toBe(false);
  });

  it("agrees with a search that follows every way", () => {
    const reaches = (needs: Needs, from: string, to: string, depth = 0): boolean =>
      depth < 12 && (needs.get(from) ?? []).some((need) => need === to || reaches(needs, need, to, depth + 1));
    const anyGraph = fc
      .integer({ min: 1, max: 9 })
      .chain((size) => fc.array(fc.array(fc.integer({ min: 0, max: size - 1 }), { maxLength: 3 }), { minLength: size, maxLength: size }))
      .map((rows): Needs => new Map(rows.map((row, index) => [`s${index}`, row.map((need) => `s${need}`)])));
    fc.assert(
      fc.property(anyGraph, (needs) => {
        const ids = Array.from(needs.keys());
        const cycle = cycleOf(needs);
        expect(cycle !== undefined).toBe(ids.some((id) => reaches(needs, id, id)));
        for (const [index, id] of (cycle ?? []).slice(0, -1).entries()) expect(needs.get(id)).toContain(cycle?.[index + 1]);
        if (cycle !== undefined) return;
        const ancestors = new Ancestors(needs);
        for (const from of ids) for (const to of ids) expect(ancestors.has(from, to)).toBe(reaches(needs, from, to));
      }),
    );
  });

  it("takes ten thousand steps in a row, and a thousand that all need each other", () => {
    const chain = new Map(Array.from({ length: 10_000 }, (_, index) => [`s${index}`, index === 9_999 ? [] : [`s${index + 1}`]]));
    const dense = new Map(Array.from({ length: 1_000 }, (_, index) => [`s${index}`, Array.from({ length: index }, (_other, need) => `s${need}`)]));
    const started = performance.now();
    expect(cycleOf(chain)).toBeUndefined();
    expect(new Ancestors(chain).has("s0", "s9999")).toBe(true);
    expect(cycleOf(dense)).toBeUndefined();
    expect(new Ancestors(dense).has("s999", "s999")).toBe(false);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
