import { WorkspaceChanges, type WorkspaceChangesOptions } from "../changes/workspace-changes.ts";
import { observeChanges } from "../observed/observe-changes.ts";
import { WorkspaceObserver } from "../observed/workspace-observer.ts";
import { WorkspaceGuard, type WorkspaceGuardOptions } from "../workspace/workspace-guard.ts";
import type { Layer } from "./tool-layer.ts";

export interface ToolWorkspaceOptions extends WorkspaceGuardOptions, WorkspaceChangesOptions {}

/** A workspace that tools work in. One for all tools of a process: what they change at once is told apart by it. */
export interface ToolWorkspace {
  readonly guard: WorkspaceGuard;
  readonly changes: WorkspaceChanges;
  /** For the pipelines of tools that execute something in it. */
  readonly observe: Layer;
  /** What nobody closes ends with the process. */
  close(): Promise<void>;
}

/** The directory must exist. */
export function openToolWorkspace(directory: string, options: ToolWorkspaceOptions = {}): ToolWorkspace {
  const guard = new WorkspaceGuard(directory, options);
  const changes = new WorkspaceChanges(guard, options);
  const observer = new WorkspaceObserver(changes);
  return { guard, changes, observe: observeChanges(observer), close: () => observer.close() };
}
