import { ErrorCode } from "@forge/protocol/common";
import { expect, test } from "vitest";
import { StreamQuota } from "./stream-quota.ts";

test("each caller has its own places, and gets one back with each stream that ends", () => {
  const quota = new StreamQuota(2);
  const first = quota.take("a");
  quota.take("a");
  expect(() => quota.take("a")).toThrow(expect.objectContaining({ code: ErrorCode.RESOURCE_EXHAUSTED, reason: "STREAMS" }));
  quota.take("b");
  first();
  quota.take("a");
  expect(() => quota.take("a")).toThrow(/a has 2 streams open/);
});
