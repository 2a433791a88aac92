import { access, constants } from "node:fs/promises";
import path from "node:path";
import type { Launch } from "../../suite/driver-process.ts";
import type { Implementation, Missing } from "../../suite/implementations.ts";
import { bundlePage } from "./bundle-page.ts";

/** Debian's first; each is the same browser. */
const NAMES = ["chromium", "chromium-browser", "google-chrome"];

export const IMPLEMENTATIONS: readonly Implementation[] = [{ name: "browser", language: "TypeScript in Chromium", start }];

async function start(): Promise<Launch | Missing> {
  const browser = await findBrowser();
  if (browser === undefined) return { missing: "Chromium is not installed" };
  return { command: process.execPath, args: [path.join(import.meta.dirname, "main.ts"), browser, await bundlePage(path.join(import.meta.dirname, "page.ts"))] };
}

/** Where Chromium is; undefined where it is not installed. */
export async function findBrowser(): Promise<string | undefined> {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter((folder) => folder !== "");
  for (const file of NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name)))) {
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false, // The question's answer.
    );
    if (isThere) return file;
  }
  return undefined;
}
