import { describe, expect, it } from "vitest";
import { isAbout, joinHooks, parseHooks } from "./hooks-config.ts";

const FILE = ".forge/hooks.toml";

describe("parseHooks", () => {
  it("reads hooks with their bounds, named for whose file it is", () => {
    const text =
      '[[hook]]\nname = "lint"\nat = ["after_tool"]\ncommand = ["npm", "run", "lint"]\ntools = ["tools.patch", "mcp.*"]\ntimeout_seconds = 30\n\n[[hook]]\nname = "ask"\nat = ["on_user_message"]\ncommand = ["./ask"]\n';
    expect(parseHooks(text, FILE)).toEqual({
      hooks: [
        { name: "project.lint", at: ["after_tool"], command: ["npm", "run", "lint"], tools: ["tools.patch", "mcp.*"], timeoutMs: 30_000 },
        { name: "project.ask", at: ["on_user_message"], command: ["./ask"], tools: undefined, timeoutMs: 10_000 },
      ],
      problems: [],
    });
    expect(joinHooks([parseHooks(text, FILE, "user"), parseHooks(text, FILE)]).hooks.map(({ name }) => name)).toEqual([
      "user.lint",
      "user.ask",
      "project.lint",
      "project.ask",
    ]);
    expect(parseHooks("", FILE)).toEqual({ hooks: [], problems: [] });
  });

  const good = '[[hook]]\nname = "a"\nat = ["before_tool"]\ncommand = ["x"]\n';
  it.each([
    ["what is no TOML", "[[hook]]\nname = ", 2, "is not TOML"],
    ["an event that is not known", `${good}[[hook]]\nname = "b"\nat = ["sometimes"]\ncommand = ["x"]\n`, 7, "at.0"],
    ["a key that is not known", `${good}allow = true\n`, 1, "allow"],
    ["no command", '[[hook]]\nname = "a"\nat = ["before_tool"]\ncommand = []\n', 4, "command"],
    ["a command as one text", '[[hook]]\nname = "a"\nat = ["before_tool"]\ncommand = "rm -rf"\n', 4, "command"],
    ["a time without end", `${good}timeout_seconds = 301\n`, 5, "timeout_seconds"],
    ["a name twice", `${good}${good}`, 6, "two hooks a"],
    ["tools where there are none", '[[hook]]\nname = "a"\nat = ["on_pre_llm"]\ncommand = ["x"]\ntools = ["y"]\n', 5, "only before_tool"],
    ["other tables", '[hooks]\nname = "a"\n', 1, "hooks"],
  ])("gives no hook of a file with %s, and tells the line", (_what, text, line, says) => {
    const { hooks, problems } = parseHooks(text, FILE);
    expect(hooks).toEqual([]);
    expect(problems).toMatchObject([{ line, file: FILE, message: expect.stringContaining(says) }]);
  });

  it("knows what a hook is about", () => {
    expect([isAbout({}, "any"), isAbout({ tools: ["mcp.*"] }, "mcp.a.b"), isAbout({ tools: ["mcp.*"] }, "tools.mcp"), isAbout({ tools: ["a"] }, "ab")]).toEqual(
      [true, true, false, false],
    );
  });
});
