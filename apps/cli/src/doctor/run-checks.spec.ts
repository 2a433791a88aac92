import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { checkNode } from "./checks/node.ts";
import { ok } from "./finding.ts";
import { runChecks } from "./run-checks.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("looks at everything at once, in order, whatever fails or never answers, and gives up what is late", async () => {
  let aborted = false;
  const looking = runChecks([
    { name: "fine", look: async () => [ok("one"), ok("two")] },
    { name: "broken", look: () => Promise.reject(new Error("out of luck")) },
    {
      name: "silent",
      deadlineMs: 1_000,
      look: (signal) =>
        new Promise(() => {
          signal.addEventListener("abort", () => (aborted = true));
        }),
    },
  ]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await looking).toEqual([
    { check: "fine", status: "ok", message: "one" },
    { check: "fine", status: "ok", message: "two" },
    { check: "broken", status: "problem", message: expect.stringContaining("out of luck"), advice: expect.any(String) },
    { check: "silent", status: "problem", message: "no answer within 1 s", advice: expect.any(String) },
  ]);
  expect(aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  ["v20.19.0", "problem"],
  ["v24.22.3", "ok"],
  ["v26.0.0", "warning"],
] as const)("says of Node %s that it is: %s", (version, status) => {
  expect(checkNode(version, "/usr/bin/node").status).toBe(status);
});
