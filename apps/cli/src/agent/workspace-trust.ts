import { homedir } from "node:os";
import path from "node:path";
import { isCancel, select } from "@clack/prompts";
import type { TrustState, WorkspaceTrust } from "@forge/host";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { HookSpec } from "@forge/protocol/session";
import { openProject } from "@forge/workflow";
import type { Context } from "../context.ts";
import type { Style } from "../output/style.ts";
import { oneLine } from "../output/text.ts";

/** More are counted only. */
const LISTED_MAX = 20;

/** What people have said of workspaces, on this machine. */
export async function trustOf(environment: NodeJS.ProcessEnv): Promise<WorkspaceTrust> {
  const { stateDirectoryOf, workspaceTrust } = await import("@forge/host");
  return workspaceTrust(stateDirectoryOf(environment, homedir()), async (root) => {
    const { toolsDir, functionsDir } = await openProject(root, environment);
    return { tools: [path.relative(root, toolsDir)], functions: [path.relative(root, functionsDir)] };
  });
}

/** The hooks of the workspace, where it is trusted, and of the person, as a new session's agent is made with them. */
export async function hooksOf(environment: NodeJS.ProcessEnv, root: string): Promise<HookSpec[]> {
  const { configDirectoryOf, readWorkspaceCode, sessionHooks } = await import("@forge/host");
  const state = await (await trustOf(environment)).readTrust(root);
  return sessionHooks(await readWorkspaceCode(state, configDirectoryOf(environment, homedir())));
}

export interface SettleOptions {
  /** Trusts it as it is now. */
  readonly accepts: boolean;
  /** Whether a person is there to be asked. */
  readonly canAsk: boolean;
}

/** Makes sure that a person has said whether what a workspace brings may run. Who says no, or is not asked, works without it. */
export async function settleTrust({ terminal, environment }: Context, root: string, { accepts, canAsk }: SettleOptions): Promise<void> {
  const trust = await trustOf(environment);
  const state = await trust.readTrust(root);
  if (state.state === "trusted" && !accepts) return;
  if (accepts) return trust.trust(root, state.digest);
  const lines = trustLines(root, state, terminal.errorStyle);
  if (!canAsk) {
    for (const line of lines) terminal.note(line);
    terminal.note(terminal.errorStyle.dim("It is not trusted, and so none of it is run. Trust it with forge trust, or --trust."));
    return;
  }
  for (const line of lines) terminal.print(line);
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

/** Refuses a mode in which nothing is asked where nobody has trusted the workspace. Errors: validation, WORKSPACE_UNTRUSTED. */
export async function checkBypass(environment: NodeJS.ProcessEnv, root: string): Promise<void> {
  const { state } = await (await trustOf(environment)).readTrust(root);
  if (state === "trusted") return;
  throw ForgeError.validation(
    "mode",
    `the mode bypass is for trusted workspaces, and ${root} is ${state}: look at forge trust --show, then trust it with forge trust`,
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
