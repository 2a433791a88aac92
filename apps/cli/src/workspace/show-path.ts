import { safeText } from "../output/text.ts";

/** A path on one line: as it is where it can be, else in quotes with escapes, so that no two look the same by what a terminal makes of them. */
export function showPath(path: string): string {
  if (safeText(path) === path && path.trim() === path && !/[^\S ]|"/.test(path)) return path;
  return JSON.stringify(path).replaceAll(
    /[\u007F-\u00A0\u200E\u200F\u2028-\u202E\u2066-\u2069]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
