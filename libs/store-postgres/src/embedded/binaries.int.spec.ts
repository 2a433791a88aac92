import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { linkLibraries, locateBinaries, POSTGRES_MAJOR } from "./binaries.ts";
import { makeDirectory, removeDirectory } from "./testing/processes.ts";

test("the installed programs run, and are of the major version that names the data directory", async () => {
  for (const program of Object.values(await locateBinaries())) {
    expect(execFileSync(program, ["--version"], { encoding: "utf8" })).toMatch(new RegExp(`\\(PostgreSQL\\) ${POSTGRES_MAJOR}\\.`));
  }
});

test("links between libraries that npm left out are made, by many at once, and stay when they are there", async () => {
  const root = await makeDirectory();
  try {
    await mkdir(path.join(root, "native", "lib"), { recursive: true });
    await writeFile(path.join(root, "native", "lib", "libpq.so.5.18"), "a library");
    const links = ["libpq.so", "libpq.so.5"].map((name) => ({ source: "native/lib/libpq.so.5.18", target: `native/lib/${name}` }));
    await writeFile(path.join(root, "native", "pg-symlinks.json"), JSON.stringify(links));
    await Promise.all(Array.from({ length: 20 }, () => linkLibraries(root)));
    await linkLibraries(root);
    for (const { target } of links) expect(await readFile(path.join(root, target), "utf8")).toBe("a library");
  } finally {
    await removeDirectory(root);
  }
});

test("a package without a list of links has none", async () => {
  const root = await makeDirectory();
  try {
    await expect(linkLibraries(root)).resolves.toBeUndefined();
  } finally {
    await removeDirectory(root);
  }
});
