import { execFileSync } from "node:child_process";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";

// Builds dist/<app>/main.js for each app: plain JavaScript that Node runs without stripping types, beside an installed node_modules.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url)).replace(/\/$/, "");
const ENTRIES = { cli: "main.js", "control-plane": "main.ts", executor: "main.ts" };

for (const [app, entry] of Object.entries(ENTRIES)) {
  const main = await bundle(ROOT, join(ROOT, "apps", app, "src", entry), join(ROOT, "dist", app));
  console.log(relative(ROOT, main));
}

// A bundle that can't even say what it is good for is no bundle; this also loads all that it imports.
execFileSync(process.execPath, [join(ROOT, "dist/cli/main.js"), "--help"], { stdio: ["ignore", "ignore", "inherit"], timeout: 30_000 });
