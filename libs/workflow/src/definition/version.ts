const VERSION = /^v?(\d{1,9}(?:\.\d{1,9}){0,3})$/i;

/** The canonical form of a version, `v2` or `v2.1`, from `v2`, `V2.1`, `2` or `2.01`; undefined for everything else. */
export function normalizeVersion(text: string): string | undefined {
  const parts = VERSION.exec(text.trim())?.[1]?.split(".");
  return parts === undefined ? undefined : `v${parts.map(Number).join(".")}`;
}

/** Orders canonical versions by their numbers: v2 before v10, v2 before v2.1. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.slice(1).split(".").map(Number)) as [number[], number[]];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? -1) - (right[index] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}
