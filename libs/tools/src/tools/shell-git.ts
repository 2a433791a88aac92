import { dirname } from "node:path";
import { runProcess } from "../process/run-process.ts";

/** Settings of a repository that name no program and lead nowhere else. With any other in its configuration, a command of git is not taken for one that only reads. */
const HARMLESS =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|compression|bigfilethreshold|untrackedcache|preloadindex|longpaths|sharedrepository)|remote\..*\.(?:url|pushurl|fetch|push|tagopt|prune)|branch\..*\.(?:remote|merge|rebase|pushremote|description)|user\.(?:name|email|signingkey)|init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote)|fetch\.prune|rebase\.autostash|submodule\..*\.(?:url|active)|submodule\.active|color\..*|(?:commit|tag)\.gpgsign)$/;

const SETTINGS: readonly (readonly [string, string])[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["core.askPass", "false"],
  ["core.sshCommand", "false"],
  ["diff.external", ""],
  ["diff.ignoreSubmodules", "all"],
  ["status.submoduleSummary", "false"],
  ["log.showSignature", "false"],
  ["gpg.program", "false"],
  ["gpg.ssh.program", "false"],
  ["gpg.x509.program", "false"],
  ["safe.bareRepository", "explicit"],
];

/** What git's reading commands are run with, so that a repository's own settings run nothing. Nothing is refreshed on disk, and nothing is fetched. */
export function gitReadingEnvironment(workspace: string): Record<string, string> {
  return {
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_TERMINAL_PROMPT: "0",
    GIT_PAGER: "cat",
    // Not a repository that happens to lie around the workspace.
    GIT_CEILING_DIRECTORIES: dirname(workspace),
    GIT_CONFIG_COUNT: String(SETTINGS.length),
    ...Object.fromEntries(
      SETTINGS.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** Whether the repository at a directory sets nothing beyond what is harmless. `git` is the program's path. Reading a configuration runs nothing. */
export async function hasHarmlessGitConfig(git: string, cwd: string, workspace: string, signal: AbortSignal): Promise<boolean> {
  const { exitCode, stdout } = await runProcess({
    command: [git, "config", "--local", "--list", "--name-only", "-z"],
    cwd,
    environment: gitReadingEnvironment(workspace),
    timeoutMs: 5_000,
    signal,
  });
  return exitCode === 0 && stdout.omittedBytes === 0 && stdout.text.split("\0").every((key) => key === "" || HARMLESS.test(key));
}
