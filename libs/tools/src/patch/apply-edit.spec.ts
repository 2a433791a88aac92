import { describe, expect, test } from "vitest";
import { applyEdit } from "./apply-edit.ts";

const edit = (text: string, search: string, replace: string, all = false, encoding: "utf-8" | "latin-1" = "utf-8") =>
  applyEdit({ path: "x", text, encoding }, { search, replace, all }, 1);

test("replaces what is there once", () => {
  expect(edit("a b c", "b", "$& $1 B")).toBe("a $& $1 B c");
  expect(edit("one\ntwo\nthree\n", "one\ntwo", "1\n2\n3")).toBe("1\n2\n3\nthree\n");
});

describe("line ends", () => {
  test.each([
    ["a\r\nb\r\nc", "b", "B", "a\r\nB\r\nc"],
    ["a\r\nb\r\nc", "a\nb", "1\n2\n3", "1\r\n2\r\n3\r\nc"],
    ["a\r\nb\r\nc", "a\r\nb", "1\r\n2", "1\r\n2\r\nc"],
    ["a\nb\n", "a\r\nb", "1\r\n2", "1\n2\n"],
    ["a\r\nb\nc\n", "a\nb", "1\n2", "1\r\n2\nc\n"],
    ["a\r\nb\nc\n", "b", "b\nb", "a\r\nb\nb\nc\n"],
    ["a\r\nb", "b", "b\nc", "a\r\nb\r\nc"],
    ["a\r\nb\r\n", "\n", " ", undefined],
    ["a\r\nb", "\n", " ", "a b"],
    ["x", "x", "1\n2", "1\n2"],
  ])("%j with %j for %j", (text, search, replace, result) => {
    if (result === undefined) expect(() => edit(text, search, replace)).toThrow(/2 times/);
    else expect(edit(text, search, replace)).toBe(result);
  });
});

test("all replaces every place, also in a file with other line ends", () => {
  expect(edit("aaa", "a", "b", true)).toBe("bbb");
  expect(edit("aaaa", "aa", "b", true)).toBe("bb");
  expect(edit("a\r\na\r\n", "a\n", "b\nc\n", true)).toBe("b\r\nc\r\nb\r\nc\r\n");
});

describe("what is refused", () => {
  test("a text that is there twice, also where the places overlap", () => {
    expect(() => edit("x\ny\nx\n", "x", "z")).toThrow(/x: edit 1: the file has the text that begins with "x" 2 times, at lines 1, 3/);
    expect(() => edit("aaa", "aa", "b")).toThrow(/2 times/);
  });

  test("a text that is not there, with a hint at what is", () => {
    expect(() => edit("function a() {\n\treturn 1;\n}\n", "function a() {\n  return 1;\n}", "")).toThrow(
      /does not have the text that begins with "function a\(\) \{"; near line 1: it should have " {2}return 1;" and has "\\treturn 1;"/,
    );
  });

  test("other letters than a file that is no UTF-8 has there", () => {
    expect(edit("caf\u00e9 old", "café old", "café new", false, "latin-1")).toBe("café new");
    expect(() => edit("caf\u00e9 old", "old", "ü", false, "latin-1")).toThrow(/not UTF-8/);
  });
});

test("many places of a large file take no time", () => {
  const text = "some words\r\n".repeat(100_000);
  const startedAt = performance.now();
  expect(edit(text, "words\n", "w\n", true)).toBe("some w\r\n".repeat(100_000));
  expect(performance.now() - startedAt).toBeLessThan(3_000);
});
