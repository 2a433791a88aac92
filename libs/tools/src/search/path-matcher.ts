import { ForgeError } from "@forge/protocol";
import picomatch from "picomatch";

/** Whether a path matches a glob, the name alone where the glob holds no `/`. Names that begin with a dot are names like others. */
export function pathMatcher(glob: string): (path: string) => boolean {
  let matches: (path: string) => boolean;
  try {
    matches = picomatch(glob.replace(/^\.\//, ""), { dot: true, maxLength: 256 });
  } catch (error) {
    throw ForgeError.validation("arguments.pattern", `the pattern can't be used: ${(error as Error).message}`, { origin: "tool", cause: error });
  }
  if (glob.includes("/")) return matches;
  return (path) => matches(path.slice(path.lastIndexOf("/") + 1));
}

/** Whether a glob could take long to match: such a one belongs in a thread that can be stopped. */
export function isCostly(glob: string): boolean {
  return (glob.match(/\*/g)?.length ?? 0) > 6 || /[({]/.test(glob);
}
