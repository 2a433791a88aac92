import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type Change, ListChangesRequestSchema } from "@forge/protocol/session";
import { CapabilityKind, CapabilitySchema, UndoResultSchema, type UndoTask } from "@forge/protocol/worker";
import { failure, interrupted, type TaskContext, type TaskHandler } from "@forge/worker";
import { planUndo } from "./plan-undo.ts";
import type { WorkspaceChanges } from "./workspace-changes.ts";

const PAGE_SIZE = 100;

/** Serves the undo of changes in one workspace. */
export function undoHandler(changes: WorkspaceChanges): TaskHandler {
  return {
    capability: create(CapabilitySchema, { kind: CapabilityKind.WORKSPACE, name: "undo" }),
    async run(context) {
      const startedAt = performance.now();
      try {
        if (context.task.kind.case !== "undo") throw ForgeError.validation("task", "an undo was given another task", { origin: "tool" });
        return { case: "undo", value: await undo(changes, context.task.kind.value, context) };
      } catch (error) {
        return interrupted(context.signal) ?? failure(error, performance.now() - startedAt);
      }
    },
  };
}

/**
 * Takes changes back, newest first, as one transaction. Done a second time it finds everything as it was before the changes, and tells the same. Where the files
 * themselves fail (the disk is full), nothing is undone and the task fails.
 */
async function undo(changes: WorkspaceChanges, task: UndoTask, context: TaskContext) {
  const recorded = await readChanges(task, context);
  return changes.alone(async () => {
    const plan = await planUndo(changes.guard, recorded, (sha256) => context.getArtifact(sha256));
    const isRefused = task.allOrNothing && plan.refused.length > 0;
    if (isRefused) return create(UndoResultSchema, { refused: [...plan.refused] });
    if (plan.files.length > 0) await changes.apply(plan.files, context.signal, () => {});
    return create(UndoResultSchema, { changeIds: [...plan.undone], refused: [...plan.refused] });
  });
}

/** In the order of the task. */
async function readChanges({ sessionId, changeIds }: UndoTask, context: TaskContext): Promise<Change[]> {
  const found = new Map<string, Change>();
  for (let index = 0; index < changeIds.length; index += PAGE_SIZE) {
    let pageToken = "";
    do {
      const request = create(ListChangesRequestSchema, { sessionId, changeIds: changeIds.slice(index, index + PAGE_SIZE), pageSize: PAGE_SIZE, pageToken });
      const page = await context.listChanges(request);
      for (const change of page.changes) found.set(change.changeId, change);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }
  return changeIds.map((changeId) => {
    const change = found.get(changeId);
    if (change === undefined)
      throw new ForgeError(ErrorCode.NOT_FOUND, `change ${changeId} is not one of the session's`, { reason: "CHANGE_NOT_FOUND", origin: "tool" });
    return change;
  });
}
