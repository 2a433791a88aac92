import { execFileSync } from "node:child_process";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";

// Builds dist/<app>/main.js for each app, or for those that are named: plain JavaScript that Node runs without stripping types, beside an installed node_modules.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const ENTRIES: Readonly<Record<string, string>> = { cli: "forge.ts", "control-plane": "main.ts", executor: "main.ts" };

const named = process.argv.slice(2);
const unknown = named.find((app) => ENTRIES[app] === undefined);
if (unknown !== undefined) throw new Error(`there is no app ${unknown}: name some of ${Object.keys(ENTRIES).join(", ")}, or none for all`);
const apps = named.length > 0 ? named : Object.keys(ENTRIES);

for (const app of apps) {
  const main = await bundle(ROOT, join(ROOT, "apps", app, "src", ENTRIES[app] as string), join(ROOT, "dist", app));
  console.log(relative(ROOT, main));
}

// A bundle that can't even say what it is good for is no bundle; this also loads all that it imports.
if (apps.includes("cli"))
  execFileSync(process.execPath, [join(ROOT, "dist/cli/main.js"), "--help"], { stdio: ["ignore", "ignore", "inherit"], timeout: 30_000 });
