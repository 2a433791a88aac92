import { describe, expect, it } from "vitest";
import { createScrubber } from "./scrub.ts";

describe("scrubber", () => {
  const scrub = createScrubber(["my-own-key", "key"]);

  it.each([
    ["Incorrect API key provided: my-own-key.", "Incorrect API key provided: [redacted]."],
    ["Authorization: Bearer abc123", "Authorization: Bearer [redacted]"],
    ['{"x-api-key": "abc123"}', '{"x-api-key": "[redacted]"}'],
    ["Incorrect API key provided: sk-proj-ab*****xyz.", "Incorrect API key provided: [redacted]."],
    ["connect http://me:pw@host/v1", "connect http://[redacted]@host/v1"],
    ["a monkey ate the keyboard", "a monkey ate the keyboard"],
  ])("cleans %j", (text, clean) => {
    expect(scrub(text)).toBe(clean);
  });
});
