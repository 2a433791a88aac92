import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { type WorkspaceChangeRecorded, WorkspaceChangeRecordedSchema } from "@forge/protocol/event";
import { type FileChange, FileChangeSchema } from "@forge/protocol/session";
import { keepContent, newChangeId, type PutArtifact } from "../changes/change-record.ts";
import { FileDiffs } from "../changes/file-diff.ts";
import type { WorkspaceChanges } from "../changes/workspace-changes.ts";
import { cutText } from "../text.ts";
import { ObservationClient } from "./observation-client.ts";
import type { Observation, ObservedChange, ObservedFile } from "./observed-file.ts";

/** Of one change; more are counted. */
const FILES_MAX = 500;
const NOTES_MAX = 32;
const NOTE_LENGTH_MAX = 256;
/** Contents of all files of a workspace together. */
const CONTENTS_BYTES_MAX = 1024 * 1024 * 1024;
/** A text whose lines are counted; others are told without. */
const COUNTED_BYTES_MAX = 512 * 1024;

/** An execution that is looked at. */
export interface ObservedRun {
  /** Whose it is: a session's or a run's id. */
  readonly owner: string;
  /** By path. */
  readonly changes: Map<string, ObservedChange>;
  readonly notes: Set<string>;
  /** Other owners' executions at the same time. */
  readonly others: Set<string>;
  /** Kept from writing: nothing that is found is its doing. */
  isReading: boolean;
}

/**
 * Finds what executions change in a workspace by comparing it before and after each. What happens while one runs is its doing; while several run, of the one that
 * ends first, which is told with the change. What Forge changes by its own hand meanwhile is nobody's, since it is recorded by itself.
 */
export class WorkspaceObserver {
  readonly #changes: WorkspaceChanges;
  readonly #client: ObservationClient;
  /** In the order in which they began. */
  readonly #running = new Set<ObservedRun>();

  constructor(changes: WorkspaceChanges) {
    this.#changes = changes;
    const { root, forbidden } = changes.guard;
    const directory = join(changes.stateDirectory, "observed");
    this.#client = new ObservationClient({ root, forbidden, directory, bytesMax: CONTENTS_BYTES_MAX });
    changes.beside({
      before: async () => {
        // What an execution has done until now is not to be taken for what comes.
        if (this.#running.size === 0) return;
        try {
          this.#attribute(await this.#client.scan(false), undefined);
        } catch (error) {
          this.#tellLost(error);
        }
      },
      after: async (paths) => {
        if (!this.#client.isStarted) return;
        try {
          await this.#client.refresh(paths);
        } catch (error) {
          this.#tellLost(error);
        }
      },
    });
  }

  /** Looks at the workspace before something is executed. */
  async begin(owner: string): Promise<ObservedRun> {
    return this.#changes.alone(async () => {
      this.#attribute(await this.#client.scan(this.#running.size === 0), undefined);
      const run: ObservedRun = { owner, changes: new Map(), notes: new Set(), others: new Set(), isReading: false };
      for (const other of this.#running) {
        other.others.add(owner);
        run.others.add(other.owner);
      }
      this.#running.add(run);
      return run;
    });
  }

  /** Looks again once it has ended; undefined where nothing was changed. */
  async end(run: ObservedRun, put: PutArtifact): Promise<WorkspaceChangeRecorded | undefined> {
    try {
      return await this.#changes.alone(async () => {
        this.#attribute(await this.#client.scan(false), run);
        return run.isReading ? undefined : await this.#record(run, put);
      });
    } finally {
      this.#running.delete(run);
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  /** `ending`: whose end it is; else what is found is of the one that has run longest and may write, if any does. */
  #attribute({ changes, notes }: Observation, ending: ObservedRun | undefined): void {
    const run = ending?.isReading === false ? ending : [...this.#running].find(({ isReading }) => !isReading);
    if (run === undefined) return;
    for (const change of changes) {
      const before = run.changes.has(change.path) ? run.changes.get(change.path)?.before : change.before;
      if (isEqual(before, change.after)) run.changes.delete(change.path);
      else run.changes.set(change.path, { ...change, before });
    }
    for (const note of notes) run.notes.add(note);
  }

  /** A transaction does not fail because nobody could look beside it; whoever runs is told that it may be taken for its own. */
  #tellLost(error: unknown): void {
    for (const run of this.#running) run.notes.add(`what was changed is not known for sure: ${error instanceof Error ? error.message : String(error)}`);
  }

  async #record({ changes, notes, others, owner }: ObservedRun, put: PutArtifact): Promise<WorkspaceChangeRecorded | undefined> {
    if (changes.size === 0 && notes.size === 0) return undefined;
    const files: FileChange[] = [];
    const diffs = new FileDiffs();
    const notUndoable = [...notes];
    for (const change of [...changes.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1)).slice(0, FILES_MAX)) {
      const file = await this.#fileChange(change, diffs, put);
      if (file === undefined) notUndoable.push(`too large: ${change.path}`);
      else files.push(file);
    }
    if (changes.size > FILES_MAX) notUndoable.push(`${changes.size - FILES_MAX} more files`);
    const foreign = [...others].filter((other) => other !== owner);
    if (foreign.length > 0) notUndoable.push(`at the same time tools of others ran, whose changes may be among these: ${foreign.join(", ")}`);
    notUndoable.push("anything outside of the workspace");
    return create(WorkspaceChangeRecordedSchema, { changeId: newChangeId(), files, observed: true, notUndoable: bounded(notUndoable) });
  }

  /** Undefined of a file that was too large to be read. */
  async #fileChange({ path, before, after }: ObservedChange, diffs: FileDiffs, put: PutArtifact): Promise<FileChange | undefined> {
    if (before?.sha256 === "" || after?.sha256 === "") return undefined;
    const contents = { before: await this.#content(before), after: await this.#content(after) };
    const isCounted = [contents.before, contents.after].every((content) => content === undefined || content.length <= COUNTED_BYTES_MAX);
    const isWhole = (before === undefined || contents.before !== undefined) && (after === undefined || contents.after !== undefined);
    const diff = isCounted && isWhole ? diffs.of(path, contents.before, contents.after) : { added: 0, removed: 0 };
    return create(FileChangeSchema, {
      path,
      beforeSha256: before?.sha256 ?? "",
      afterSha256: after?.sha256 ?? "",
      before: await keepContent(contents.before, put),
      after: await keepContent(contents.after, put),
      beforeMode: before?.mode ?? 0,
      afterMode: after?.mode ?? 0,
      notUndoable: before?.isLink || after?.isLink ? "link" : before !== undefined && contents.before === undefined ? "too large" : "",
      addedLines: diff.added,
      removedLines: diff.removed,
    });
  }

  async #content(file: ObservedFile | undefined): Promise<Uint8Array | undefined> {
    return file?.isKept ? this.#client.content(file.sha256) : undefined;
  }
}

function isEqual(one: ObservedFile | undefined, other: ObservedFile | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.sha256 !== "" && one.sha256 === other.sha256 && one.mode === other.mode && one.isLink === other.isLink;
}

function bounded(notes: readonly string[]): string[] {
  const shown = notes.slice(0, NOTES_MAX - 1);
  const more = notes.length - shown.length;
  return [...shown, ...(more > 1 ? [`and ${more} more`] : notes.slice(NOTES_MAX - 1))].map((note) => cutText(note, NOTE_LENGTH_MAX));
}
