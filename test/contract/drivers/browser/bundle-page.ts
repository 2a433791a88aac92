import path from "node:path";
import { build } from "vite";

const ENTRY = path.join(import.meta.dirname, "page.ts");
const OUT = path.resolve(import.meta.dirname, "../../../../node_modules/.cache/forge-contract/browser");

/** Bundles what runs in the page into one classic script, and returns its path. Errors: a module that needs Node. */
export async function bundlePage(): Promise<string> {
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
      outDir: OUT,
      emptyOutDir: true,
      minify: false,
      target: "es2022",
      lib: { entry: ENTRY, formats: ["iife"], name: "forgeContractPage", fileName: () => "page.js" },
    },
  });
  return path.join(OUT, "page.js");
}
