import { describe, expect, it } from "vitest";
import { planTree } from "./repository-tree.ts";

describe("planTree", () => {
  it("has as many files as were asked for, each in a directory that it names, parents first", () => {
    const { directories, files } = planTree(2_345);
    expect(new Set(files).size).toBe(2_345);
    const known = new Set<string>();
    for (const directory of directories) {
      const parent = directory.split("/").slice(0, -1).join("/");
      expect(parent === "" || known.has(parent)).toBe(true);
      known.add(directory);
    }
    expect(files.every((file) => known.has(file.split("/").slice(0, -1).join("/")))).toBe(true);
    expect(directories.length).toBe(24 + 3);
    expect(files.filter((file) => file.endsWith(".ts")).length).toBe(235);
  });
});
