import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDeltaChannel } from "./delta-channel.ts";

function collect(pieces: readonly string[]): { offset: number; text: string }[] {
  const sent: { offset: number; text: string }[] = [];
  const channel = createDeltaChannel((offset, text) => sent.push({ offset: Number(offset), text }));
  for (const piece of pieces) channel.write(piece);
  channel.end();
  return sent;
}

describe("delta channel", () => {
  it("holds back the first half of a surrogate pair until the second has come", () => {
    expect(collect(["a\ud83d", "\ude00b"])).toEqual([
      { offset: 0, text: "a" },
      { offset: 1, text: "\u{1f600}b" },
    ]);
  });

  it("replaces a half that stays alone without moving what follows", () => {
    expect(collect(["\ud83d", "x", "\ud83d"])).toEqual([
      { offset: 0, text: "\ufffdx" },
      { offset: 2, text: "\ufffd" },
    ]);
  });

  it("sends nothing for an empty piece", () => {
    expect(collect(["", "a", ""])).toEqual([{ offset: 0, text: "a" }]);
  });

  it("loses nothing and counts UTF-16 code units, however the text is cut", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.array(fc.nat(40)), (text, cuts) => {
        const at = [...new Set([0, ...cuts.filter((cut) => cut < text.length), text.length])].sort((a, b) => a - b);
        const sent = collect(at.slice(1).map((end, index) => text.slice(at[index], end)));
        expect(sent.map((piece) => piece.text).join("")).toBe(text.toWellFormed());
        let offset = 0;
        for (const piece of sent) {
          expect(piece.offset).toBe(offset);
          expect(piece.text.isWellFormed()).toBe(true);
          offset += piece.text.length;
        }
      }),
    );
  });
});
