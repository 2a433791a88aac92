import type { UndoRefusal, WorkspaceChangeRecorded } from "@forge/protocol/event";
import type { FileChange } from "@forge/protocol/session";
import type { Style } from "../output/style.ts";
import { oneLine } from "../output/text.ts";

/** More are counted only. */
const FILES_MAX = 8;

/** What a call changed in the workspace, a line a file. */
export function changeLines({ files, observed, notUndoable }: Pick<WorkspaceChangeRecorded, "files" | "observed" | "notUndoable">, style: Style): string[] {
  const lines = files.slice(0, FILES_MAX).map((file) => `${style.cyan("±")} ${fileText(file, style)}`);
  if (files.length > FILES_MAX) lines.push(style.dim(`… ${files.length - FILES_MAX} more files`));
  const notes = [
    ...(observed && files.length > 0 ? ["found by comparing before and after"] : []),
    ...notUndoable.map((each) => `can't be undone: ${oneLine(each)}`),
  ];
  return [...lines, ...notes.map((note) => style.dim(note))];
}

/** A file, what became of it, and what can't be undone of it. */
export function fileText({ path, beforeSha256, afterSha256, addedLines, removedLines, notUndoable }: FileChange, style: Style): string {
  const what = beforeSha256 === "" ? "new" : afterSha256 === "" ? "deleted" : "";
  const counts = addedLines + removedLines === 0 ? "" : ` ${style.green(`+${addedLines}`)} ${style.red(`-${removedLines}`)}`;
  return `${oneLine(path)}${what === "" ? "" : ` ${style.dim(what)}`}${counts}${notUndoable === "" ? "" : style.yellow(` can't be undone: ${oneLine(notUndoable)}`)}`;
}

/** Changes that were left as they are, and why. */
export function refusalLines(refused: readonly UndoRefusal[], style: Style): string[] {
  return refused.map(({ path, reason }) => `${style.yellow("✖")} ${oneLine(path)} ${oneLine(reason)}`);
}
