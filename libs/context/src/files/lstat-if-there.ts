import { lstatSync, type Stats } from "node:fs";

/** What is at a path; undefined where there is nothing, or nothing that this user can see, or no path at all. Reading it later says why. */
export function lstatIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
