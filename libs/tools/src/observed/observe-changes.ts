import { create } from "@bufbuild/protobuf";
import { WorkspaceChangeRecordedSchema } from "@forge/protocol/event";
import { newChangeId } from "../changes/change-record.ts";
import { cutText } from "../text.ts";
import type { Invocation, Layer } from "../tools/tool-layer.ts";
import { toolTask } from "../tools/tool-task.ts";
import type { ObservedRun, WorkspaceObserver } from "./workspace-observer.ts";

/** Records what an execution changes in the workspace, however it ends. Where that can't be found out, the execution goes on, and people are told so. */
export function observeChanges(observer: WorkspaceObserver): Layer {
  return (next) => async (invocation) => {
    const { sessionId, runId } = toolTask(invocation.context);
    let run: ObservedRun | undefined;
    try {
      run = await observer.begin(sessionId === "" ? runId : sessionId);
    } catch (error) {
      tellUnobserved(invocation, error);
    }
    try {
      invocation.signal.throwIfAborted();
      return await next({
        ...invocation,
        readsOnly: () => {
          if (run !== undefined) run.isReading = true;
        },
      });
    } finally {
      if (run !== undefined) await endObserved(observer, run, invocation);
    }
  };
}

async function endObserved(observer: WorkspaceObserver, run: ObservedRun, invocation: Invocation): Promise<void> {
  try {
    const change = await observer.end(run, (content, mediaType) => invocation.context.putArtifact(content, mediaType));
    if (change !== undefined) invocation.changes.push(change);
  } catch (error) {
    tellUnobserved(invocation, error);
  }
}

function tellUnobserved({ changes }: Invocation, error: unknown): void {
  const what = cutText(`what was changed is not known: ${error instanceof Error ? error.message : String(error)}`, 256);
  changes.push(create(WorkspaceChangeRecordedSchema, { changeId: newChangeId(), observed: true, notUndoable: [what] }));
}
