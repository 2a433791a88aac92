import { describe, expect, it } from "vitest";
import { programRefusal } from "./program-rules.ts";
import { shellPrograms } from "./shell-programs.ts";

describe("the programs of a shell command", () => {
  it.each([
    ["ls -l", ["ls"]],
    ["  git status && rm -rf / ; echo done | tee out &", ["git", "rm", "echo", "tee"]],
    ["ls\nrm x", ["ls", "rm"]],
    ["ls 2>&1 >out rm", ["ls"]],
    [">out rm x", ["rm"]],
    ["A=1 B='x y' rm x", ["rm"]],
    ["echo \"$(rm x)\" '$(cat y)'", ["echo", "rm"]],
    ["echo $(echo $(rm x; ls) `cat y`)", ["echo", "echo", "rm", "ls", "cat"]],
    ['echo `rm x` "`cat y`"', ["echo", "rm", "cat"]],
    ["(cd x && rm y)", ["cd", "rm"]],
    ["if true; then rm x; fi", ["true", "rm"]],
    ["r\\m x; 'r'\"m\" y", ["rm", "rm"]],
    ["ls # it's\nrm x", ["ls", "rm"]],
    ["echo a#b 'it'; rm x", ["echo", "rm"]],
    ["f() { rm x; }; f", ["f", "rm", "f"]],
    ['echo "it\'s"; rm x', ["echo", "rm"]],
    ["case x in x) rm y;; esac", ["case", "rm"]],
    ["r\\\nm x", ["rm"]],
    ["A=$(rm x) ls", ["rm", "ls"]],
    ["echo $((1+2)); ls", ["echo", "1+2", "ls"]],
    ["! rm x", ["rm"]],
    ["[ -f x ] && rm x", ["[", "rm"]],
    ["", []],
  ])("%j", (command, programs) => {
    expect(shellPrograms(command)).toEqual({ programs });
  });

  it.each([
    "$X y",
    "cat <<E\nit's\nE\nrm x",
    "echo 'x",
    'echo "x',
    "echo $(ls",
    "echo `ls",
    "r*m x",
    "echo $'a\\'; rm x #'",
    "echo `echo \\`rm x\\``",
    "cat <(rm x)",
    "${X} y",
    "/bin/r?",
    'echo "$(case x in x) rm y;; esac)"',
    "[$X",
  ])("can't be told of %j", (command) => {
    expect(shellPrograms(command)).toHaveProperty("unclear");
  });
});

describe("rules for programs", () => {
  const rules = (allow: string[], deny: string[]): ((command: string) => string | undefined) => programRefusal({ allow, deny });

  it("let everything run where there are none", () => {
    expect(rules([], [])("echo `x")).toBeUndefined();
  });

  it("deny first, by the whole name or its last part", () => {
    const refusal = rules([".*"], ["rm|dd"]);
    expect(refusal("ls; /bin/rm x")).toBe("the program /bin/rm is refused by shell_denylist");
    expect(refusal("ls; rmdir x")).toBeUndefined();
    expect(refusal("echo $(dd)")).toMatch(/dd is refused/);
    expect(refusal("$RM x")).toMatch(/can't be told/);
  });

  it("allow what matches as a whole and nothing else", () => {
    const refusal = rules(["git", "npm"], []);
    expect(refusal("git status && npm test")).toBeUndefined();
    for (const command of ["gitk", "./git status", "git status; ls", "X=1 ls", "eval git", "git $(ls)", "{ ls; }"])
      expect(refusal(command), command).toMatch(/is not in shell_allowlist/);
    expect(refusal("x".repeat(300))).toMatch(/too long/);
  });
});
