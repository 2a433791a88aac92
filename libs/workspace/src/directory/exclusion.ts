import { ForgeError } from "@forge/protocol";

/** What Forge keeps for itself beside a project's files; its database changes all the time. */
const OWN = ".forge/data";

/** Marks a data directory, wherever it is and whatever it is called: it holds tokens, and is never a part of a workspace. */
export const DATA_MARKER = ".forge-data";

/** Whether a path of a directory is left out, with all that is below it. */
export type IsExcluded = (path: string) => boolean;

/** `excluded`: paths in the directory, or single names, which are left out wherever they stand. Errors: validation. */
export function exclusion(excluded: readonly string[] = []): IsExcluded {
  const [names, paths] = [new Set<string>(), new Set<string>()];
  for (const given of excluded) {
    const path = given.replace(/^\.\//, "").replace(/\/+$/, "");
    if (path === "" || path.split("/").some((part) => part === "" || part === "." || part === ".."))
      throw ForgeError.validation("exclude", `${JSON.stringify(given)} is neither a name nor a path in the directory`);
    (path.includes("/") ? paths : names).add(path);
  }
  return (path) => path === OWN || path.endsWith(`/${OWN}`) || paths.has(path) || names.has(path.slice(path.lastIndexOf("/") + 1));
}

/** Whether a directory is there for Forge's own data alone: it was made by the first command in it, and is no part of what somebody works on. */
export function isOnlyForOwn(name: string, names: readonly string[]): boolean {
  return name === ".forge" && names.length === 1 && names[0] === "data";
}

/** The same as an exclusion says, for a path whose directories were not asked about before it. */
export function isExcludedDeep(isExcluded: IsExcluded, path: string): boolean {
  for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) if (isExcluded(path.slice(0, slash))) return true;
  return isExcluded(path);
}
