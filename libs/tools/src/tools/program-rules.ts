import { basename } from "node:path";
import { shellPrograms } from "./shell-programs.ts";

/** Programs that shell commands may name, as regular expressions that match a whole name. */
export interface ProgramRules {
  /** Empty: all. */
  readonly allow: readonly string[];
  /** Looked at first. */
  readonly deny: readonly string[];
}

/** Longer names are no program's; what matches them would be asked about texts of any length. */
const NAME_LENGTH_MAX = 255;

/**
 * Why a command may not run by these rules; undefined where it may. A name with a directory is denied by its last part as well, and allowed only as a whole.
 * They keep mistakes away, and are no sandbox: what a program starts in turn is not seen.
 */
export function programRefusal({ allow, deny }: ProgramRules): (command: string) => string | undefined {
  if (allow.length === 0 && deny.length === 0) return () => undefined;
  const [allowed, denied] = [allow.map(wholeName), deny.map(wholeName)];
  return (command) => {
    const found = shellPrograms(command);
    if ("unclear" in found) return `it can't be told which programs the command runs (${found.unclear}), and shell_allowlist or shell_denylist asks for that`;
    for (const program of found.programs) {
      const name = program.length > NAME_LENGTH_MAX ? `${program.slice(0, NAME_LENGTH_MAX)}…` : program;
      if (program.length > NAME_LENGTH_MAX) return `the program ${name} has too long a name`;
      if (denied.some((pattern) => pattern.test(program) || pattern.test(basename(program)))) return `the program ${name} is refused by shell_denylist`;
      if (allowed.length > 0 && !allowed.some((pattern) => pattern.test(program))) return `the program ${name} is not in shell_allowlist`;
    }
    return undefined;
  };
}

function wholeName(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`);
}
