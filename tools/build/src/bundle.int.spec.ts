import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bundle } from "./bundle.ts";

const FILES = {
  "app/main.ts": '#!/usr/bin/env node\nimport { migrations, runChild } from "../lib/store.ts";\nconsole.log(migrations(), runChild());',
  "lib/store.ts": `
      import { execFileSync } from "node:child_process";
      import { readdirSync } from "node:fs";
      import { fileURLToPath } from "node:url";
      export const migrations = (): string[] => readdirSync(new URL("./migrations/", import.meta.url));
      export const runChild = (): string => execFileSync(process.execPath, [fileURLToPath(new URL("./child.ts", import.meta.url))], { encoding: "utf8" }).trim();`,
  "lib/child.ts": 'import { greeting } from "./greeting.ts";\nconst text: string = greeting;\nconsole.log(text);',
  "lib/greeting.ts": 'export const greeting = "from the child";',
  "lib/migrations/0001_first.sql": "select 1;",
  "lib/migrations/__pycache__/first.pyc": "compiled",
  "package-lock.json": "{}",
};
const LONG_AGO = new Date("2026-01-01T00:00:00.250Z");

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "forge-build-"));
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), text);
    await utimes(join(root, path), LONG_AGO, LONG_AGO);
  }
});
afterEach(async () => {
  await rm(root, { recursive: true });
});

const make = () => bundle(root, join(root, "app/main.ts"), join(root, "dist"));

it("makes a program that finds its data and the script of its child process without the sources", async () => {
  const main = await make();
  await rm(join(root, "app"), { recursive: true });
  await rm(join(root, "lib"), { recursive: true });
  const { stdout } = await execa(main);
  expect(stdout).toBe("[ '0001_first.sql' ] from the child");
});

it("lists what a bundle was made from, with sizes and times", async () => {
  await make();
  const list = JSON.parse(await readFile(join(root, "dist/built-from.json"), "utf8")) as [string, number, number][];
  const files = ["app/main.ts", "lib/child.ts", "lib/greeting.ts", "lib/migrations/0001_first.sql", "lib/store.ts", "package-lock.json"];
  expect(list.map(([path]) => path)).toEqual([...files, "lib/migrations/"].toSorted());
  expect(list).toContainEqual(["lib/migrations/", 1, 0]);
  for (const [path, size, mtimeMs] of list.filter((source) => files.includes(source[0])))
    expect([size, mtimeMs]).toEqual([(await stat(join(root, path))).size, LONG_AGO.getTime()]);
});

it("has no list where a source was changed at the time of the build, which may have read either", async () => {
  const later = new Date(Date.now() + 60_000);
  await utimes(join(root, "lib/greeting.ts"), later, later);
  await make();
  expect(await readdir(join(root, "dist"))).not.toContain("built-from.json");
});

it("uses the version of a package that the app has, where the root has another one", async () => {
  const packages = {
    "node_modules/dep": "export const version = 'the root';",
    "node_modules/@s/dep": "export const version = 'the root';",
    "apps/a/node_modules/dep": "export const version = 'its own';",
    "apps/a/node_modules/@s/dep": "export const version = 'its own';",
    "node_modules/common": "export const version = 'common';",
  };
  for (const [directory, text] of Object.entries(packages)) {
    await mkdir(join(root, directory), { recursive: true });
    await writeFile(
      join(root, directory, "package.json"),
      JSON.stringify({ name: directory.split("node_modules/")[1], type: "module", exports: "./index.js" }),
    );
    await writeFile(join(root, directory, "index.js"), text);
  }
  const main =
    'import { version as a } from "dep"; import { version as b } from "@s/dep"; import { version as c } from "common"; console.log([a, b, c].join(", "));';
  await writeFile(join(root, "apps/a/main.ts"), main);
  const { stdout } = await execa(process.execPath, [await bundle(root, join(root, "apps/a/main.ts"), join(root, "dist"))]);
  expect(stdout).toBe("its own, its own, common");
});
