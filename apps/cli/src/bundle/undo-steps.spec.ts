import { expect, it } from "vitest";
import { undoAll } from "./undo-steps.ts";

it("takes every step back, the last first, also where one in between can't be", async () => {
  const done: number[] = [];
  const step = (number: number) => async () => void done.push(number);
  const wrong = new Error("the disk is full");
  expect(await undoAll([step(1), () => Promise.reject(wrong), step(3), () => Promise.reject(new Error("and again")), step(5)])).toEqual([
    new Error("and again"),
    wrong,
  ]);
  expect(done).toEqual([5, 3, 1]);
  expect(await undoAll([])).toEqual([]);
});
