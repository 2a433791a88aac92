import fc from "fast-check";
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

  // Every way in which a key was seen to come back: as it is, in a URL, in base64 at each place, in hexadecimal, in JSON.
  const KEY = 'k+/="\u00e9 y-0123456789~q';
  const scrubKey = createScrubber([KEY]);
  const base64 = (before: string, after: string) => Buffer.from(before + KEY + after).toString("base64");

  it.each([
    ["URL-encoded", `https://host/?a=${encodeURIComponent(KEY)}&b=1`],
    ["URL-encoded in lower case", encodeURIComponent(KEY).replaceAll(/%../g, (code) => code.toLowerCase())],
    ["form-encoded", encodeURIComponent(KEY).replaceAll("%20", "+")],
    ["hexadecimal", `0x${Buffer.from(KEY).toString("hex")}`],
    ["JSON", JSON.stringify({ echo: KEY })],
    ["base64", base64("", "")],
    ["base64 after one byte", base64("u", ":more")],
    ["base64 after two bytes", base64("u:", "more")],
    ["base64 after three bytes", base64("usr", "m")],
    ["base64 for URLs", Buffer.from(`u:${KEY}`).toString("base64url")],
  ])("leaves no more than single characters of a key in %s", (_, text) => {
    const clean = scrubKey(`provider said ${text}.`);
    expect(clean).toContain("[redacted]");
    // What is left of the text around it: nowhere near the key's length in any encoding.
    expect(clean.replaceAll("[redacted]", "").length).toBeLessThan("provider said https://host/?a=&b=1.".length + 12);
  });

  it("leaves no key readable, whatever it is and wherever it stands", () => {
    const text = fc.string({ maxLength: 20 });
    // The shapes of keys: no provider's has fewer characters or others.
    const key = fc.stringMatching(/^[A-Za-z0-9_+/=.-]{12,60}$/);
    const encodings: readonly ((whole: string) => string)[] = [
      (whole) => whole,
      encodeURIComponent,
      JSON.stringify,
      (whole) => Buffer.from(whole).toString("base64"),
      (whole) => Buffer.from(whole).toString("base64url"),
      (whole) => Buffer.from(whole).toString("hex"),
    ];
    const readings = (seen: string): string[] => [
      seen,
      ...[0, 1, 2, 3].map((shift) => Buffer.from("A".repeat(shift) + seen, "base64").toString("latin1")),
      ...[0, 1].map((shift) => Buffer.from(seen.slice(shift), "hex").toString("latin1")),
      seen.replaceAll(/%([0-9A-F]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    ];
    fc.assert(
      fc.property(key, text, text, fc.constantFrom(...encodings), (secret, before, after, encode) => {
        const clean = createScrubber([secret])(encode(before.toWellFormed() + secret + after.toWellFormed()));
        for (const piece of clean.split("[redacted]")) for (const read of readings(piece)) expect(read).not.toContain(secret.slice(2, -2));
      }),
      { numRuns: 500 },
    );
  });
});
