import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { Tree } from "../testing/tree.ts";
import { ContainedFiles } from "./contained-files.ts";
import { walkFiles } from "./walk-files.ts";

it("leaves out what git leaves out", () => {
  using tree = new Tree({
    ".gitignore": "*.log\n!keep.log\n/top\nbuild/\n**/deep/*.tmp\nfoo/**/bar\n\\#hash\n*.o[ab]\n trailing \n!/a/build/\nCase.txt\n",
    "a/.gitignore": "!*.log\nsecret\n/only-here\n",
    "a/b/.gitignore": "*\n!.gitignore\n!kept\n",
    ".git/info/exclude": "excluded\n",
    ...Object.fromEntries(
      [
        "x.log",
        "keep.log",
        "top",
        "a/top",
        "build/x",
        "a/build/x",
        "deep/x.tmp",
        "a/deep/y.tmp",
        "deep/in/z.tmp",
        "foo/bar",
        "foo/1/2/bar",
        "#hash",
        "m.oa",
        "m.oc",
        "a/y.log",
        "a/secret",
        "secret",
        "a/c/secret",
      ]
        .concat([
          "a/only-here",
          "a/c/only-here",
          "a/b/x",
          "a/b/kept",
          "a/b/c/kept",
          "excluded",
          "a/excluded",
          "Case.txt",
          "case.txt",
          "ä/größe.log",
          "ä/größe.txt",
          "name with space",
          "a/.hidden",
        ])
        .map((path) => [path, ""]),
    ),
  });
  execFileSync("git", ["init"], { cwd: tree.path, stdio: "ignore" });
  tree.write({ ".git/info/exclude": "excluded\n" });
  const listed = execFileSync("git", ["-c", "core.excludesFile=/dev/null", "ls-files", "-z", "--others", "--exclude-standard"], {
    cwd: tree.path,
    encoding: "utf8",
  });
  expect([...walkFiles(new ContainedFiles(tree.path), "")].toSorted()).toEqual(listed.split("\0").filter(Boolean).toSorted());
  expect([...walkFiles(new ContainedFiles(tree.path), "a/b")]).toEqual(["a/b/.gitignore", "a/b/kept"]);
});
