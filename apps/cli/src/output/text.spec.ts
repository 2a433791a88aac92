import { describe, expect, it } from "vitest";
import { COLOURED } from "./style.ts";
import { cut, cutStart, oneLine, pad, safeText, widthOf, wrapWords } from "./text.ts";

describe("safeText", () => {
  it("lets no text of a model or tool move the cursor, colour the screen or turn the direction of writing", () => {
    expect(safeText("a\u001B[2J\u001B[31mb\u001B]0;title\u0007c\rd\u0008\u202Ee")).toBe("abcde");
  });

  it("keeps line feeds and tabs, and makes one line end of Windows' two characters", () => {
    expect(safeText("a\r\n\tb\n")).toBe("a\n\tb\n");
  });

  it("leaves nothing of an escape sequence that was cut in two able to act", () => {
    expect(safeText("a\u001B") + safeText("[31mb")).toBe("a[31mb");
  });
});

describe("oneLine", () => {
  it("makes one space of any white space", () => expect(oneLine("  a\r\n\n b\t")).toBe("a b"));
});

describe("cut", () => {
  it.each([
    ["plain text that is long", 8, "plain t…"],
    ["→ an arrow of one column", 5, "→ an…"],
    ["ログイン後", 5, "ログ…"],
    ["👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"],
    ["short", 5, "short"],
  ])("cuts %j at %i columns", (text, columns, expected) => {
    expect(cut(text, columns)).toBe(expected);
    expect(widthOf(cut(text, columns))).toBeLessThanOrEqual(columns);
  });

  it("ends a colour that it cuts in the middle", () => {
    expect(cut(COLOURED.red("abcdefgh"), 4)).toBe("\u001B[31mabc…\u001B[0m");
  });

  it("keeps the end where that is what counts", () => {
    expect(cutStart("abcdefgh", 4)).toBe("…fgh");
    expect(widthOf(cutStart("ログイン後", 6))).toBeLessThanOrEqual(6);
  });
});

describe("pad", () => {
  it("counts a wide character as two columns and a colour as none", () => {
    expect(pad("後", 4)).toBe("後  ");
    expect(pad(COLOURED.red("ab"), 4, "right")).toBe(`  ${COLOURED.red("ab")}`);
  });
});

describe("wrapping", () => {
  it("breaks a line between its words, and leaves one that fits or has none as it is", () => {
    expect(wrapWords("one two three four", 9, "  ")).toEqual(["one two", "  three", "  four"]);
    expect(wrapWords("  a bb", 9, "")).toEqual(["  a bb"]);
    expect(wrapWords("xxxxxxxxxxxxx y", 9, "")).toEqual(["xxxxxxxxxxxxx", "y"]);
  });
});
