import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatCompleter } from "./chat-completer.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), "forge-complete-"));
  await mkdir(path.join(root, "src"));
  for (const name of ["src/a.ts", "src/b.ts", "setup.py", ".hidden"]) await writeFile(path.join(root, name), "");
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe("completion in a chat", () => {
  it("knows commands and modes", async () => {
    expect(await chatCompleter(root)("/re")).toEqual([["/rewind", "/review"], "/re"]);
    expect(await chatCompleter(root)("/mode b")).toEqual([["bypass"], "b"]);
    expect(await chatCompleter(root)("say /re")).toEqual([[], "say /re"]);
  });

  it("knows the workspace's files behind an @, and none outside of it", async () => {
    expect(await chatCompleter(root)("look at @s")).toEqual([["setup.py", "src/"], "s"]);
    expect(await chatCompleter(root)("@src/")).toEqual([["src/a.ts", "src/b.ts"], "src/"]);
    expect(await chatCompleter(root)("@../")).toEqual([[], "../"]);
    expect(await chatCompleter(root)("@.h")).toEqual([[".hidden"], ".h"]);
    expect(await chatCompleter(root)("mail me@s")).toEqual([[], "mail me@s"]);
  });
});
