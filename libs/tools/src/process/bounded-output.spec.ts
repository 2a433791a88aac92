import fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedOutput } from "./bounded-output.ts";

function capture(chunks: readonly Uint8Array[], bytesMax: number) {
  const output = new BoundedOutput(bytesMax);
  for (const chunk of chunks) output.push(Buffer.from(chunk));
  return output.captured();
}

test("keeps everything up to the bound, however it is cut into chunks", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 30 }), fc.integer({ min: 1, max: 7 }), (text, size) => {
      const bytes = Buffer.from(text);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
      expect(capture(chunks, 1_000)).toEqual({ text, bytes: bytes.length, omittedBytes: 0 });
    }),
  );
});

test("beyond the bound keeps whole characters of head and tail, and counts exactly what it left out", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 30, maxLength: 300 }), fc.integer({ min: 8, max: 29 }), (text, bytesMax) => {
      const { text: shown, bytes, omittedBytes } = capture([Buffer.from(text)], bytesMax);
      const [head, tail] = shown.split(`\n[${omittedBytes} bytes left out]\n`) as [string, string];
      expect(text.startsWith(head)).toBe(true);
      expect(text.endsWith(tail)).toBe(true);
      expect(Buffer.byteLength(head) + omittedBytes + Buffer.byteLength(tail)).toBe(bytes);
      expect(bytes - omittedBytes).toBeGreaterThan(bytesMax - 8);
    }),
  );
});
