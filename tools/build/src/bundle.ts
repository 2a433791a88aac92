import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { builtFrom, writeBuiltFrom } from "./built-from.ts";
import { ownPackages } from "./own-packages.ts";
import { runtimeFiles } from "./runtime-files.ts";

/**
 * Packages that become part of a bundle: code alone, in many small files, which a start would otherwise look for one by one. All others stay imports, since they find
 * files or threads beside themselves, or are a file or two.
 */
const INLINED = [/^@bufbuild\/protobuf$/, /^@connectrpc\//, /^@ai-sdk\//, "ajv", "commander", "diff", "kysely", "pg", "smol-toml", "yaml", "zod"];

/**
 * Bundles `entry` and what it needs of this repository (below `root`, no slash at its end) into `outDir`/main.js; most packages from node_modules stay imports, of
 * which each finds the version that its importer does.
 * Beside it `built-from.json` names what it was made from. Returns the path of main.js.
 */
export async function bundle(root: string, entry: string, outDir: string): Promise<string> {
  const startedAtMs = Date.now();
  const sources = builtFrom(root);
  const files = runtimeFiles(root, outDir);
  await build({
    root,
    configFile: false,
    logLevel: "warn",
    plugins: [files.plugin, sources.plugin],
    ssr: { target: "node", noExternal: [/^@forge\//, ...INLINED, ...(await ownPackages(root))] },
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
  await writeBuiltFrom(root, outDir, [...sources.modules(), ...files.copied()], startedAtMs);
  const main = join(outDir, "main.js");
  if ((await readFile(main, "utf8")).startsWith("#!")) await chmod(main, 0o755);
  return main;
}
