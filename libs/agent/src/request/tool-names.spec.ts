import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createToolNames } from "./tool-names.ts";

describe("tool names", () => {
  it("writes a dot as two underscores and reads it back", () => {
    const names = createToolNames(["tools.search", "plain"]);
    expect(names.toWire("tools.search")).toBe("tools__search");
    expect(names.fromWire("tools__search")).toBe("tools.search");
    expect(names.toWire("plain")).toBe("plain");
  });

  it("keeps the name that needs no rewriting and tells the other apart, in any order", () => {
    const forward = createToolNames(["a.b", "a__b", "a/b"]);
    const backward = createToolNames(["a/b", "a__b", "a.b"]);
    expect(forward.toWire("a__b")).toBe("a__b");
    expect(forward.toWire("a.b")).not.toBe(forward.toWire("a/b"));
    for (const name of ["a.b", "a__b", "a/b"]) {
      expect(forward.fromWire(forward.toWire(name))).toBe(name);
      expect(backward.toWire(name)).toBe(forward.toWire(name));
    }
  });

  it("keeps a name that was never sent", () => {
    expect(createToolNames(["tools.search"]).fromWire("tools__guess")).toBe("tools__guess");
  });

  it("does not let a tool of an older turn pass for one of this turn's", () => {
    const names = createToolNames(["a__b"]);
    expect(names.toWire("a.b")).not.toBe("a__b");
    expect(names.toWire("old.tool")).toBe("old__tool");
  });

  it("gives every name an own valid form and finds it again", () => {
    const name = fc.string({ minLength: 1, maxLength: 128, unit: fc.constantFrom("a", "B", ".", "_", "/", "é", "漢", "-", "1") });
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 40 }), (catalogue) => {
        const names = createToolNames(catalogue);
        const wires = catalogue.map((each) => names.toWire(each));
        expect(new Set(wires).size).toBe(catalogue.length);
        for (const [index, wire] of wires.entries()) {
          expect(wire).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          expect(names.fromWire(wire)).toBe(catalogue[index]);
        }
      }),
    );
  });
});
