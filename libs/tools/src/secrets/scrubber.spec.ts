import fc from "fast-check";
import { expect, test } from "vitest";
import { createScrubber } from "./scrubber.ts";

const SECRET = 's3cret+/key "with" ümlaut';

test("takes a secret out as it is, URL-encoded, in JSON, and in base64 at every place", () => {
  const scrubber = createScrubber([SECRET]);
  const url = encodeURIComponent(SECRET);
  for (const form of [SECRET, url, url.toLowerCase().replace("s3cret", "s3cret"), JSON.stringify(SECRET), `x${SECRET}y`])
    expect(scrubber.scrub(form), form).toContain("[secret]");
  for (const before of ["", "a", "ab", "abc", "user:"])
    for (const after of ["", "z", "zz"])
      for (const encoding of ["base64", "base64url"] as const) {
        const text = scrubber.scrub(Buffer.from(before + SECRET + after).toString(encoding));
        expect(text, before + after).toContain("[secret]");
        expect(Buffer.from(text.replace("[secret]", ""), encoding).toString()).not.toContain("3cret");
      }
});

test("takes it out in hexadecimal, and where lines of any length break what was encoded", () => {
  const long = `${SECRET}, and more of it, which is longer than a line`;
  const scrubber = createScrubber([long]);
  const bytes = Buffer.from(`before it ${long} and after it`);
  for (const text of [bytes.toString("base64"), bytes.toString("hex"), bytes.toString("hex").toUpperCase()])
    for (const width of [7, 60, 76])
      for (const end of ["\n", "\r\n"]) {
        const wrapped = (text.match(new RegExp(`.{1,${width}}`, "g")) ?? []).join(end);
        const told = scrubber.scrub(wrapped);
        expect(told.match(/\[secret\]/g), wrapped).toHaveLength(1);
        // Lines so short may end within the first characters, and each would have to be held back.
        if (width === 7) continue;
        const stream = scrubber.stream();
        const pieces = wrapped
          .split("")
          .map((character) => stream.push(character))
          .join("");
        expect(pieces + stream.end()).toBe(told);
      }
});

test("leaves everything else as it is", () => {
  const scrubber = createScrubber([SECRET, "", "short"]);
  expect(scrubber.scrub("a short s3cret+/ke text")).toBe("a short s3cret+/ke text");
  expect(createScrubber([]).stream().push("x")).toBe("x");
});

test("in pieces it is the same as whole, and at most a beginning is held back", () => {
  const scrubber = createScrubber([SECRET, "otherSecret"]);
  const text = fc
    .array(fc.constantFrom(SECRET, "otherSecret", "s3cret", "other", "x", "\n", Buffer.from(SECRET).toString("base64"), Buffer.from(SECRET).toString("hex")), {
      maxLength: 8,
    })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (whole, size) => {
      const stream = scrubber.stream();
      let told = "";
      for (let at = 0; at < whole.length; at += size) told += stream.push(whole.slice(at, at + size));
      expect(told + stream.end()).toBe(scrubber.scrub(whole));
    }),
  );
  expect(scrubber.stream().push("ready\n")).toBe("ready\n");
});
