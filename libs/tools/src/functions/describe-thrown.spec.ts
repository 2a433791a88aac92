import { expect, it } from "vitest";
import { describeThrown } from "./describe-thrown.ts";

it("names files as people know them, and passes over frames that are not the function's", () => {
  const error = new Error("no title");
  error.stack = "Error: no title\n    at f (file:///home/a%20b/%C3%BC.ts:3:1)\n    at g (file:///a%ZZ.ts:1:1)\n    at node:internal/process:1:2";
  expect(describeThrown(error)).toBe("Error: no title\n    at f (/home/a b/ü.ts:3:1)\n    at g (file:///a%ZZ.ts:1:1)");
});
