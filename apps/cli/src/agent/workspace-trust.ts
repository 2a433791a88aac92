import { homedir } from "node:os";
import path from "node:path";
import type { TrustState, WorkspaceTrust } from "@forge/host/trust";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { HookSpec } from "@forge/protocol/session";
import type { Context } from "../context.ts";
import type { Style } from "../output/style.ts";
import { oneLine } from "../output/text.ts";

/** More are counted only. */
const LISTED_MAX = 20;

/** What people have said of workspaces, on this machine. */
export async function trustOf(environment: NodeJS.ProcessEnv): Promise<WorkspaceTrust> {
  const { stateDirectoryOf, workspaceTrust } = await import("@forge/host/trust");
  return workspaceTrust(stateDirectoryOf(environment, homedir()), (root) => codeDirectories(root, environment));
}

/** Where a project keeps code. A configuration that can't be read names no directories, and nothing is served with it; mended, it is another file, which is asked about. */
async function codeDirectories(
  root: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly tools?: readonly string[]; readonly functions?: readonly string[] }> {
  try {
    const { openProject } = await import("@forge/workflow/project");
    const { toolsDir, functionsDir } = await openProject(root, environment);
    return { tools: [path.relative(root, toolsDir)], functions: [path.relative(root, functionsDir)] };
  } catch (error) {
    if (error instanceof ForgeError && error.code === ErrorCode.VALIDATION) return {};
    throw error;
  }
}

/** The hooks of the workspace, where it is trusted, and of the person, as a new session's agent is made with them. */
export async function hooksOf(environment: NodeJS.ProcessEnv, root: string): Promise<HookSpec[]> {
  const { configDirectoryOf, readWorkspaceCode, sessionHooks } = await import("@forge/host/trust");
  const state = await readOrNothing(await trustOf(environment), root);
  if (state === undefined) return [];
  return sessionHooks(await readWorkspaceCode(state, configDirectoryOf(environment, homedir())));
}

export interface SettleOptions {
  /** Trusts it as it is now. */
  readonly accepts: boolean;
  /** Whether a person is there to be asked. */
  readonly canAsk: boolean;
  /** A workspace that the same is true of, where it brings the very same: what a worktree was made of. */
  readonly sameAs?: string;
}

/** Makes sure that a person has said whether what a workspace brings may run. Who says no, or is not asked, works without it. */
export async function settleTrust({ terminal, environment }: Context, root: string, { accepts, canAsk, sameAs }: SettleOptions): Promise<void> {
  const trust = await trustOf(environment);
  const state = await readOrNothing(trust, root);
  if (state === undefined) {
    terminal.note(terminal.errorStyle.yellow(`${root} has more code of its own than can be looked at: it is not trusted, and none of it is run.`));
    return;
  }
  if (state.state === "trusted" && !accepts) return;
  const other = sameAs === undefined ? undefined : await readOrNothing(trust, sameAs);
  if (accepts || (other?.state === "trusted" && other.digest === state.digest)) return trust.trust(root, state.digest);
  const lines = trustLines(root, state, terminal.errorStyle);
  if (!canAsk) {
    for (const line of lines) terminal.note(line);
    terminal.note(terminal.errorStyle.dim("It is not trusted, and so none of it is run. Trust it with forge trust, or --trust."));
    return;
  }
  for (const line of lines) terminal.print(line);
  const { isCancel, select } = await import("@clack/prompts");
  const answer = await select<"yes" | "no">({
    message: "Trust it?",
    initialValue: "no",
    options: [
      { value: "no", label: "No", hint: "work without what it brings; you are asked again next time" },
      { value: "yes", label: "Yes", hint: "until one of these files changes" },
    ],
  });
  if (isCancel(answer)) throw new ForgeError(ErrorCode.CANCELLED, "nothing was started", { origin: "client" });
  if (answer === "yes") await trust.trust(root, state.digest);
}

/** Whether people have trusted what a workspace brings, as it is now. */
export async function mayRunCode(environment: NodeJS.ProcessEnv, root: string): Promise<boolean> {
  return (await readOrNothing(await trustOf(environment), root))?.state === "trusted";
}

/** Undefined where there is more than can be looked at, and so nothing that is trusted. */
async function readOrNothing(trust: WorkspaceTrust, root: string): Promise<TrustState | undefined> {
  try {
    return await trust.readTrust(root);
  } catch (error) {
    if (error instanceof ForgeError && error.reason === "TRUST_TOO_LARGE") return undefined;
    throw error;
  }
}

/** Refuses a mode in which nothing is asked where nobody has trusted the workspace. Errors: validation, WORKSPACE_UNTRUSTED. */
export async function checkBypass(environment: NodeJS.ProcessEnv, root: string): Promise<void> {
  // A workspace that brings nothing to run is trusted without anybody having said so, which is not enough for this.
  const { isExplicit, state } = await (await trustOf(environment)).readTrust(root);
  if (isExplicit) return;
  const found = state === "trusted" ? "nobody has said so of" : `it is ${state}:`;
  throw ForgeError.validation(
    "mode",
    `the mode bypass is for workspaces that a person trusts, and ${found} ${root}: look at forge trust --show, then trust it with forge trust`,
    {
      reason: "WORKSPACE_UNTRUSTED",
    },
  );
}

/** What would run, and what of it is new. */
export function trustLines(root: string, { state, executes, changed }: Pick<TrustState, "state" | "executes" | "changed">, style: Style): string[] {
  const heads: Readonly<Record<TrustState["state"], string>> = {
    trusted: executes.length === 0 ? `${root} brings nothing that would run.` : `${root} is trusted. It runs:`,
    untrusted: `${root} brings what runs on this machine once it is trusted:`,
    changed: `${root} was trusted, and what it runs has changed since:`,
  };
  const files =
    state === "changed" ? changed.map((file) => ({ path: file, kind: executes.find((executed) => executed.path === file)?.kind ?? "gone" })) : executes;
  const listed = files.slice(0, LISTED_MAX).map(({ path: file, kind }) => `  ${style.bold(oneLine(file))} ${style.dim(kind)}`);
  return [style.yellow(heads[state]), ...listed, ...(files.length > LISTED_MAX ? [style.dim(`  … ${files.length - LISTED_MAX} more`)] : [])];
}
