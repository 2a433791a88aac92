import { bundleError } from "./bundle-error.ts";
import { BUNDLE_LIMITS } from "./limits.ts";

/** Names that mean something else than a file to a system that an archive may be unpacked on. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$/i;

/** The path of an archive's entry, as it may be created below a directory. Errors: validation, for every path that could lead out of it or that another may be taken for. */
export function entryPath(name: string): string {
  const shown = JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);
  const refuse = (why: string): never => {
    throw bundleError(`the archive has the path ${shown}, ${why}: nothing was unpacked`);
  };
  if (name.length > BUNDLE_LIMITS.pathLengthMax) refuse("which is too long");
  if (name.startsWith("/")) refuse("which is absolute");
  if (/^[A-Za-z]:/.test(name)) refuse("which names a drive");
  if (name.includes("\\")) refuse("which has a backslash");
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  if (/[\u0000-\u001F\u007F]/.test(name)) refuse("which has control characters");
  const parts = name
    .replace(/\/+$/, "")
    .split("/")
    .filter((part, index) => !(part === "." && index === 0));
  if (parts.length === 0) return "";
  for (const part of parts) {
    if (part === "..") refuse("which leads out of the directory");
    if (part === "" || part === ".") refuse("which is not written plainly");
    if (Buffer.byteLength(part) > 255) refuse("which has too long a name");
    if (/[. ]$/.test(part) || RESERVED.test(part)) refuse("which is no name on every system");
  }
  if (parts.length > BUNDLE_LIMITS.depthMax) refuse("which is nested too deeply");
  return parts.join("/");
}
