import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { trustOf } from "../agent/workspace-trust.ts";
import { git } from "./git.ts";

/** Commands that a repository's own configuration has git run when files are checked out, compared, added or merged. */
const COMMANDS = String.raw`^(filter\..*\.(smudge|clean|process)|merge\..*\.driver|diff\..*\.(command|textconv)|diff\.external|core\.(sshcommand|pager|editor))$`;
const LISTED_MAX = 5;

/** Refuses a repository with commands in its own configuration, as an archive can bring it, where nobody has trusted it; those of the person's configuration are the person's. Errors: permission_denied, REPOSITORY_UNTRUSTED. */
export async function refuseCommands(top: string, root: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const said = await git(top, ["config", "--null", "--show-scope", "--name-only", "--get-regexp", COMMANDS], environment).catch(orNone);
  const words = said.split("\0");
  const keys = words.flatMap((word, index) => (index % 2 === 1 && ["local", "worktree"].includes(words[index - 1] ?? "") ? [word] : []));
  if (keys.length === 0) return;
  // Nothing else that would run makes a workspace trusted without anybody having said so, which is not enough for this.
  if ((await (await trustOf(environment)).readTrust(root)).isExplicit) return;
  const listed = keys.slice(0, LISTED_MAX).join(", ");
  throw new ForgeError(
    ErrorCode.PERMISSION_DENIED,
    `the git configuration of ${top} has commands that worktrees would run (${listed}): look at them, then trust it with forge trust`,
    {
      reason: "REPOSITORY_UNTRUSTED",
      origin: "client",
    },
  );
}

/** git ends with 1, and says nothing, where there is none. */
function orNone(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
  if (code === 1) return "";
  throw error;
}
