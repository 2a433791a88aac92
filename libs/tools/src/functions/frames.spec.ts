import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeFrame, frameReader } from "./frames.ts";

test("frames come out as they went in, however the stream is cut", () => {
  const frame = fc.tuple(fc.constantFrom("C", "R"), fc.string({ unit: "grapheme", maxLength: 40 }));
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (frames, sizes) => {
      const stream = Buffer.concat(frames.map(([kind, payload]) => encodeFrame(kind, payload)));
      const read: [string, string][] = [];
      const push = frameReader((kind, payload) => read.push([kind, payload]));
      for (let at = 0, turn = 0; at < stream.length; turn++) {
        const size = sizes[turn % sizes.length] as number;
        push(stream.subarray(at, at + size));
        at += size;
      }
      expect(read).toEqual(frames);
    }),
  );
});

test("a frame that claims to be larger than allowed is refused before it is buffered", () => {
  const push = frameReader(() => {});
  expect(() => push(Buffer.from([0x7f, 0xff, 0xff, 0xff, 0x52]))).toThrow("a frame of 2147483647 bytes");
});
