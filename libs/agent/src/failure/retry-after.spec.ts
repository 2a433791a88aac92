import { describe, expect, it } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

const NOW = Date.parse("Wed, 21 Oct 2015 07:28:00 GMT");

describe("retryAfterMs", () => {
  it.each([
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Wed, 21 Oct 2015 07:28:09 GMT" }, 9000],
    [{ "retry-after": "Wed, 21 Oct 2015 07:00:00 GMT" }, 0],
    [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
    [{ "retry-after-ms": "soon", "retry-after": "7" }, 7000],
    [{ "retry-after": "-1" }, undefined],
    [{ "retry-after": "tomorrow" }, undefined],
    [{ "retry-after": "1e9" }, 24 * 3600 * 1000],
    [{}, undefined],
    [undefined, undefined],
  ])("reads %j as %s ms", (headers, expected) => {
    expect(retryAfterMs(headers as Record<string, string> | undefined, NOW)).toBe(expected);
  });
});
