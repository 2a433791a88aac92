import { expect, it } from "vitest";
import { Lru } from "./lru.ts";

it("keeps the entries that were used last", () => {
  const lru = new Lru<number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  expect(lru.get("a")).toBe(1);
  lru.set("c", 3);
  expect([lru.get("a"), lru.get("b"), lru.get("c")]).toEqual([1, undefined, 3]);
  lru.set("a", 4);
  expect(lru.size).toBe(2);
  lru.delete("a");
  lru.clear();
  expect(lru.size).toBe(0);
});
