import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { runtimeFiles } from "./runtime-files.ts";

/** Bundles `entry` and what it needs of this repository (below `root`, no slash at its end) into `outDir`/main.js; packages from node_modules stay imports. Returns that path. */
export async function bundle(root: string, entry: string, outDir: string): Promise<string> {
  await build({
    root,
    configFile: false,
    logLevel: "warn",
    plugins: [runtimeFiles(root, outDir)],
    ssr: { target: "node", noExternal: [/^@forge\//] },
    build: {
      ssr: entry,
      outDir,
      emptyOutDir: true,
      target: "node24",
      minify: false,
      sourcemap: true,
      rolldownOptions: { output: { entryFileNames: "main.js", chunkFileNames: "[name]-[hash].js", format: "esm" } },
    },
  });
  const main = join(outDir, "main.js");
  if ((await readFile(main, "utf8")).startsWith("#!")) await chmod(main, 0o755);
  return main;
}
