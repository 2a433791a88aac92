import { cp, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { Plugin } from "vite";
import { moduleUrls } from "./module-urls.ts";

/** Whether something in a folder that is copied goes with it: not what Python makes for itself. */
export function isCopied(path: string): boolean {
  return !path.endsWith(".ts") && basename(path) !== "__pycache__";
}

/**
 * Keeps `new URL("./x", import.meta.url)` working in a bundle whose chunks all lie in one folder: a TypeScript file becomes a chunk of its own beside them,
 * any other file or folder is copied to `files/` under its path in the repository, and the literal is rewritten to where it went. `copied` names those, once the
 * bundle is there.
 */
export function runtimeFiles(root: string, outDir: string): { readonly plugin: Plugin; copied(): readonly string[] } {
  const copies = new Map<string, string>();
  const plugin: Plugin = {
    name: "forge:runtime-files",
    enforce: "pre",
    async transform(code, id) {
      if (!id.startsWith(root) || id.includes("/node_modules/")) return null;
      let result = code;
      for (const { path, start, end } of moduleUrls(id, code).toReversed()) {
        const target = join(dirname(id), path);
        let moved: string;
        if (path.endsWith(".ts")) {
          moved = `./${basename(path, ".ts")}.js`;
          this.emitFile({ type: "chunk", id: target, fileName: basename(moved) });
        } else {
          await stat(target);
          moved = `./${join("files", relative(root, target))}${path.endsWith("/") ? "/" : ""}`;
          copies.set(target, join(outDir, moved));
        }
        result = result.slice(0, start) + JSON.stringify(moved) + result.slice(end);
      }
      return result === code ? null : { code: result, map: null };
    },
    async writeBundle() {
      for (const [source, target] of copies) await cp(source, target, { recursive: true, filter: isCopied });
    },
  };
  return { plugin, copied: () => [...copies.keys()] };
}
