import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { literalWords } from "./shell-words.ts";

test.each([
  ["git status", ["git", "status"]],
  ["  git\t status  ", ["git", "status"]],
  ["echo 'a b' \"c d\" e'f'g", ["echo", "a b", "c d", "efg"]],
  ["echo '$HOME `x` ; & |'", ["echo", "$HOME `x` ; & |"]],
  ["echo '' \"\"", ["echo", "", ""]],
  ["grep -n 'it\"s' a.txt", ["grep", "-n", 'it"s', "a.txt"]],
  ["make X=1", ["make", "X=1"]],
  ["./x.sh --a=b", ["./x.sh", "--a=b"]],
])("%j is literal words", (command, words) => {
  expect(literalWords(command)).toEqual(words);
});

test.each([
  "git status && x",
  "git status; x",
  "git status | x",
  "git status & x",
  "git status\nx",
  "git status\r\nx",
  "git status $(x)",
  "git status `x`",
  "git status > x",
  "git status 2>&1",
  "git status < x",
  "X=1 git status",
  "git status # x",
  "git status *",
  "git status ?",
  "git status [a]",
  "git status {a,b}",
  "git status ~",
  "git status \\x",
  'git status "$X"',
  'git status "`x`"',
  'git status "\\x"',
  "git status $X",
  "git status 'x",
  'git status "x',
  "(git status)",
  "{ git; }",
  "! git status",
  "time git status",
  "if true",
  "git st\0atus",
  "git 'a\nb'",
  "git 'a\0b'",
  "",
  "   ",
  "'' x",
  "git sta\u00a0tus",
  "grüße",
  "git status\u2028x",
  "a^b",
  'echo "a!b"',
])("%j is not", (command) => {
  expect(literalWords(command)).toBeUndefined();
});

test("whatever passes means the same to sh", () => {
  const text = fc.string({ unit: fc.constantFrom(..."ab '\"$;|&<>#=\\`*~!{}()\n-./".split("")), maxLength: 14 });
  const commands = fc
    .sample(text, 4_000)
    .map((rest) => ({ command: `printf %s= ${rest}`, words: literalWords(`printf %s= ${rest}`) }))
    .filter(({ words }) => words !== undefined)
    .slice(0, 60);
  expect(commands.length).toBeGreaterThan(20);
  for (const { command, words = [] } of commands) {
    const printed = execFileSync("sh", ["-c", command], { encoding: "utf8" });
    expect(printed, command).toBe(
      words.length === 2
        ? "="
        : words
            .slice(2)
            .map((word) => `${word}=`)
            .join(""),
    );
  }
});
