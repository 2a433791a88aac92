import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bundle } from "./bundle.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "forge-build-"));
});
afterEach(async () => {
  await rm(root, { recursive: true });
});

it("makes a program that finds its data and the script of its child process without the sources", async () => {
  const files = {
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
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const main = await bundle(root, join(root, "app/main.ts"), join(root, "dist"));
  await rm(join(root, "app"), { recursive: true });
  await rm(join(root, "lib"), { recursive: true });
  const { stdout } = await execa(main);
  expect(stdout).toBe("[ '0001_first.sql' ] from the child");
});
