import fc from "fast-check";
import { expect, it } from "vitest";
import { layOut } from "./layers.ts";

const WIDTHS = { node: 100, bend: 20 };

it("puts a node below everything that leads to it, and leads long ways past the nodes between", () => {
  const { places, ways, count } = layOut(
    ["a", "b", "c"],
    [
      { from: "a", to: "b" },
      { from: "b", to: "c" },
      { from: "a", to: "c" },
    ],
    WIDTHS,
  );
  expect(["a", "b", "c"].map((id) => places.get(id)?.layer)).toEqual([0, 1, 2]);
  expect(count).toBe(3);
  const [, bend] = ways[2] ?? [];
  expect(bend?.layer).toBe(1);
  expect(Math.abs((bend?.x ?? 0) - (places.get("b")?.x ?? 0))).toBeGreaterThanOrEqual(60);
});

it("lets no two nodes of a layer overlap, and none leave the picture", () => {
  const anyGraph = fc.integer({ min: 2, max: 14 }).chain((size) =>
    fc
      .uniqueArray(
        fc.tuple(fc.nat(size - 1), fc.nat(size - 1)).filter(([from, to]) => from < to),
        { selector: ([from, to]) => `${from} ${to}` },
      )
      .map((pairs) => ({
        ids: Array.from({ length: size }, (_, index) => `s${index}`),
        ways: pairs.map(([from, to]) => ({ from: `s${from}`, to: `s${to}` })),
      })),
  );
  fc.assert(
    fc.property(anyGraph, ({ ids, ways }) => {
      const layers = layOut(ids, ways, WIDTHS);
      const all = ids.map((id) => layers.places.get(id)).filter((place) => place !== undefined);
      for (const [index, one] of all.entries()) {
        expect(one.x - 50).toBeGreaterThanOrEqual(-0.001);
        expect(one.x + 50).toBeLessThanOrEqual(layers.width + 0.001);
        for (const other of all.slice(index + 1)) if (other.layer === one.layer) expect(Math.abs(other.x - one.x)).toBeGreaterThanOrEqual(99.999);
      }
      for (const [index, { from, to }] of ways.entries()) {
        expect(layers.places.get(from)?.layer).toBeLessThan(layers.places.get(to)?.layer ?? 0);
        expect(layers.ways[index]?.[0]).toEqual(layers.places.get(from));
        expect(layers.ways[index]?.at(-1)).toEqual(layers.places.get(to));
      }
    }),
  );
});

it("lays out ten thousand nodes soon", () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => `s${index}`);
  const started = performance.now();
  layOut(
    ids,
    ids.slice(1).map((to, index) => ({ from: ids[index] as string, to })),
    WIDTHS,
  );
  layOut(
    ids,
    ids.slice(1).map((to) => ({ from: "s0", to })),
    WIDTHS,
  );
  expect(performance.now() - started).toBeLessThan(5_000);
});
