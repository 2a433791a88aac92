import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { projectFiles } from "../testing/project-files.ts";
import { INPUT_FILE_BYTES_MAX, parseInputs } from "./parse-inputs.ts";

async function failure(...flags: string[]): Promise<[ErrorCode, string]> {
  try {
    await parseInputs(flags, "/tmp");
  } catch (error) {
    if (error instanceof ForgeError) return [error.code, error.message];
    throw error;
  }
  throw new Error("it was accepted");
}

describe("parseInputs", () => {
  it("reads texts, files and JSON, exactly as they are", async () => {
    await using files = await projectFiles({ "a.md": "\uFEFFone\r\ntwo\r\n", "日本.txt": "ログイン" });
    expect(
      await parseInputs(["a=@a.md", `b=@${files.root}/日本.txt`, "c=x=y", "d=", 'e=json:{"n": [1, null]}', "名前=ok", 'f=json:"@x"'], files.root),
    ).toStrictEqual({
      a: "\uFEFFone\r\ntwo\r\n",
      b: "ログイン",
      c: "x=y",
      d: "",
      e: { n: [1, null] },
      名前: "ok",
      f: "@x",
    });
    expect(await parseInputs([], files.root)).toStrictEqual({});
  });

  it("names the flag and the file where a file is missing, huge, binary, not UTF-8 or a directory", async () => {
    await using files = await projectFiles({ "binary.png": "\x89PNG\0\0", "huge.txt": "x".repeat(INPUT_FILE_BYTES_MAX + 1) });
    const latin = join(files.root, "latin.txt");
    await writeFile(latin, Buffer.from([0x66, 0xfc, 0x72]));
    const at = (name: string): string => join(files.root, name);
    expect(await failure(`a=@${at("none.md")}`)).toStrictEqual([ErrorCode.NOT_FOUND, `-i a=@${at("none.md")}: there is no file ${at("none.md")}`]);
    expect(await failure(`a=@${at("huge.txt")}`)).toStrictEqual([
      ErrorCode.VALIDATION,
      `-i a=@${at("huge.txt")}: ${at("huge.txt")} is larger than 16777216 bytes`,
    ]);
    expect(await failure(`a=@${at("binary.png")}`)).toStrictEqual([
      ErrorCode.VALIDATION,
      `-i a=@${at("binary.png")}: ${at("binary.png")} is a binary file, not text`,
    ]);
    expect(await failure(`a=@${latin}`)).toStrictEqual([ErrorCode.VALIDATION, `-i a=@${latin}: ${latin} is not UTF-8 text; convert it first`]);
    expect(await failure(`a=@${files.root}`)).toStrictEqual([ErrorCode.VALIDATION, `-i a=@${files.root}: ${files.root} is a directory, not a file`]);
    expect((await failure("a=@/dev/zero"))[1]).toBe("-i a=@/dev/zero: /dev/zero is larger than 16777216 bytes");
  });

  it.each([
    ["issue", "-i issue: expected name=value, name=@file or name=json:<JSON>"],
    ["=x", "-i =x: expected name=value, name=@file or name=json:<JSON>"],
    ["a.b=x", "-i a.b=x: `a.b` is no valid name of an input"],
    ["__proto__=x", "-i __proto__=x: `__proto__` is no valid name of an input"],
    ["a=@", "-i a=@: expected a file's name after @"],
    ["a=b\0c", "-i a=b\0c: the text holds a NUL or half a surrogate pair, which can't be stored"],
  ])("refuses %j", async (flag, message) => {
    expect(await failure(flag)).toStrictEqual([ErrorCode.VALIDATION, message]);
  });

  it("refuses an input given twice, and JSON that is none", async () => {
    expect((await failure("a=1", "a=2"))[1]).toBe("-i a=2: input a is given twice");
    expect((await failure("a=json:{"))[1]).toMatch(/^-i a=json:\{: not JSON \(/);
  });
});
