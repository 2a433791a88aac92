import path from "node:path";
import { build } from "vite";

const OUT = path.resolve(import.meta.dirname, "../../../../node_modules/.cache/forge-contract");

/** Bundles a module that runs in a page into one classic script, and returns its path. Errors: a module that needs Node. */
export async function bundlePage(entry: string): Promise<string> {
  const out = path.join(OUT, path.basename(entry, ".ts"));
  await build({
    configFile: false,
    logLevel: "warn",
    root: import.meta.dirname,
    plugins: [
      {
        name: "forge:no-node",
        enforce: "pre",
        resolveId(id, importer) {
          if (id.startsWith("node:")) throw new Error(`${importer ?? "the entry"} imports ${id}, which no browser has`);
          return null;
        },
      },
    ],
    build: {
      outDir: out,
      emptyOutDir: true,
      minify: false,
      target: "es2022",
      lib: { entry, formats: ["iife"], name: "forgeContractPage", fileName: () => "page.js" },
    },
  });
  return path.join(out, "page.js");
}
