import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allOf, type Chunks, chunksOf, itemAt, withItem, withLast, withoutFirst } from "./chunks.ts";

const changes = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("push" as const), value: fc.integer() }),
    fc.record({ kind: fc.constant("take" as const) }),
    fc.record({ kind: fc.constant("set" as const), at: fc.nat(), value: fc.integer() }),
  ),
  { maxLength: 400 },
);

describe("a list in chunks", () => {
  it("does what an array does, and leaves what it was made from as it was", () => {
    fc.assert(
      fc.property(fc.nat({ max: 400 }), changes, (count, steps) => {
        let expected = Array.from({ length: count }, (_, index) => index);
        let list: Chunks<number> = chunksOf(expected);
        const first = list;
        const copy = structuredClone(list);
        for (const step of steps) {
          if (step.kind === "push") {
            expected = [...expected, step.value];
            list = withLast(list, step.value);
          } else if (step.kind === "take") {
            expected = expected.slice(1);
            list = withoutFirst(list);
          } else if (expected.length > 0) {
            expected = expected.with(step.at % expected.length, step.value);
            list = withItem(list, step.at % list.length, step.value);
          }
          expect(list.length).toBe(expected.length);
        }
        expect(allOf(list)).toEqual(expected);
        expect(Array.from({ length: list.length }, (_, index) => itemAt(list, index))).toEqual(expected);
        expect(first).toEqual(copy);
      }),
      { numRuns: 100 },
    );
  });

  it("has nothing outside of its bounds", () => {
    const list = withoutFirst(chunksOf([1, 2]));
    expect([itemAt(list, -1), itemAt(list, 0), itemAt(list, 1)]).toEqual([undefined, 2, undefined]);
    expect(() => withItem(list, 1, 3)).toThrow("a list of 1 has no item at 1");
    expect(() => withItem(list, -1, 3)).toThrow("no item at -1");
    expect(allOf(withoutFirst(withoutFirst(list)))).toEqual([]);
  });
});
