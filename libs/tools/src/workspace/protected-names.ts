/** In every directory of Forge's data. */
export const DATA_MARKER = ".forge-data";

/** Whether a path is of git's own files or Forge's data, by its names; in lower case, because some file systems find `.GIT` as well. */
export function isProtectedName(path: string): boolean {
  const parts = path.toLowerCase().split("/");
  return parts.some((part, index) => part === ".git" || (part === "data" && parts[index - 1] === ".forge"));
}
