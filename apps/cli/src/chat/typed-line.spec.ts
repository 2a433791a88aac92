import { describe, expect, it } from "vitest";
import { TypedLine, withLineEnds } from "./typed-line.ts";

const bytes = (text: string): string => Buffer.from(text).toString("latin1");
const take = (...pieces: readonly string[]) => {
  const line = new TypedLine();
  const taken = pieces.map((piece) => line.take(bytes(piece)));
  const rest = taken.at(-1)?.rest;
  return {
    text: Buffer.from(taken.map(({ editor }) => editor).join(""), "latin1").toString(),
    rest: rest === undefined ? undefined : Buffer.from(rest, "latin1").toString(),
  };
};

describe("a typed line", () => {
  it("ends at its first line end, and keeps what follows", () => {
    expect(take("ab", "c\rdé\r")).toEqual({ text: "abc\r", rest: "dé\r" });
    expect(take("a\r\nb")).toEqual({ text: "a\r", rest: "b" });
    expect(take("a\nb")).toEqual({ text: "a\r", rest: "b" });
  });

  it("is one for all lines of a paste, until Enter is pressed", () => {
    const { text, rest } = take("see \u001B[200~日本\r\n\tb\u0003\u001B[2Jc\u001B[201~!", "\rmore");
    expect(text).toBe("see 日本⏎\tb[2Jc!\r");
    expect(rest).toBe("more");
    expect(withLineEnds("see 日本⏎\tb⏎⏎")).toBe("see 日本\n\tb");
  });

  it("knows a paste by marks that arrive in pieces", () => {
    expect(take("\u001B[20", "0~a\r", "\nb\u001B[2", "01~\r")).toEqual({ text: "a⏎b\r", rest: "" });
  });

  it("holds no key back", () => {
    expect(take("\u001B").text).toBe("\u001B");
    expect(take("\u001B[A").text).toBe("\u001B[A");
  });

  it("goes on behind a backslash and with Alt", () => {
    const { text, rest } = take("one\\", "\rtwo\u001B\rthree\r");
    expect(text).toBe("one\\\u007F⏎two⏎three\r");
    expect(rest).toBe("");
    expect(take("a\\\rb\r").text).toBe("a\\\u007F⏎b\r");
    // An Escape by itself is a key, and Enter after it ends the line.
    expect(take("a\u001B", "\r").text).toBe("a\u001B\r");
    expect(take("\u001B[200~x\\\u001B[201~", "\rmore")).toEqual({ text: "x\\\r", rest: "more" });
  });
});
