import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Line, readLines } from "./read-lines.ts";

async function linesOf(chunks: readonly Uint8Array[], bytesMax = 1_000): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const line of readLines(
    (async function* () {
      yield* chunks;
    })(),
    bytesMax,
  ))
    lines.push(line);
  return lines;
}

function texts(lines: readonly Line[]): string[] {
  return lines.map((line) => (line.kind === "text" ? line.text : line.kind));
}

/** A text's bytes, cut at positions. */
function cut(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const ordered = [0, ...positions.map((position) => position % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return ordered.slice(1).map((end, index) => bytes.subarray(ordered[index], end));
}

describe("lines of bytes", () => {
  it("come whole however they are cut, in the middle of a character as well", async () => {
    const text = fc.string({ unit: "grapheme" }).map((each) => each.replaceAll("\n", "").replaceAll("\uFEFF", ""));
    await fc.assert(
      fc.asyncProperty(fc.array(text), fc.array(fc.nat()), async (lines, positions) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        expect(texts(await linesOf(cut(bytes, positions), 10_000))).toEqual(lines);
      }),
    );
  });

  it("count their bytes, and the last one may lack its end", async () => {
    expect(await linesOf([Buffer.from("ü\n\nb")])).toEqual([
      { kind: "text", text: "ü", bytes: 2 },
      { kind: "text", text: "", bytes: 0 },
      { kind: "text", text: "b", bytes: 1 },
    ]);
  });

  it("that are too long are passed over and told once, before they end, and the next one is read", async () => {
    const long = Buffer.alloc(3, "x");
    expect(texts(await linesOf([Buffer.from("1234\n12345\n"), long, long, long, Buffer.from("\nend")], 4))).toEqual(["1234", "tooLong", "tooLong", "end"]);
    const endless = readLines(
      (async function* () {
        for (;;) yield long;
      })(),
      4,
    );
    expect((await endless.next()).value).toEqual({ kind: "tooLong" });
  });

  it("that are no UTF-8 are told, and the next one is read", async () => {
    expect(texts(await linesOf([Buffer.from([0xff, 0xfe, 0x0a, 0xc3, 0x0a, 0xed, 0xa0, 0x80, 0x0a]), Buffer.from("a\0b\n")]))).toEqual([
      "notUtf8",
      "notUtf8",
      "notUtf8",
      "a\0b",
    ]);
  });
});
