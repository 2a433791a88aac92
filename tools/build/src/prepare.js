import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

// What npm runs after an installation: makes the command's bundle, from which `npx forge` starts in half the time. Not worth failing an installation for, since
// without it the command runs from its sources. JavaScript, since npm's own Node may be one that knows no TypeScript.

const hasBundler = (() => {
  try {
    return import.meta.resolve("vite") !== "";
  } catch {
    // Installed without the tools of development.
    return false;
  }
})();

if (hasBundler) {
  const { status, error } = spawnSync(process.execPath, [fileURLToPath(new URL("./main.ts", import.meta.url)), "cli"], { stdio: "inherit" });
  if (status !== 0) console.error(`forge was not bundled, and starts from its sources${error === undefined ? "" : `: ${error.message}`}`);
}
