import { createHash } from "node:crypto";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { ToolCall } from "../tools/tool-definition.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { type AppliedFile, applyPlan, PartlyApplied } from "./apply-plan.ts";
import { ChangeJournal } from "./change-journal.ts";
import { type ChangePlan, isUnchanged } from "./change-plan.ts";
import { requireAsPreviewed } from "./change-preview.ts";
import { keepContents, recordOf } from "./change-record.ts";
import { Mutex } from "./mutex.ts";
import { ProcessLock } from "./process-lock.ts";

/** What a plan is carried out with. */
export type ChangeCall = Pick<ToolCall, "signal" | "previewed" | "putArtifact" | "changed">;

export interface WorkspaceChangesOptions {
  /**
   * Where this machine keeps what it needs to take changes back: journals and contents. In no workspace, or in Forge's data. Absent: beneath the system's
   * directory for temporary files.
   */
  readonly stateDirectory?: string;
}

/** Who has to know of every transaction, within `alone`. */
export interface Beside {
  before(): Promise<void>;
  /** With the paths that may have been changed, however it ended. */
  after(paths: readonly string[]): Promise<void>;
}

/** Everything that changes files of one workspace by Forge's own hand: one transaction at a time, each of them recorded. */
export class WorkspaceChanges {
  readonly guard: WorkspaceGuard;
  /** Of this workspace alone. */
  readonly stateDirectory: string;
  readonly #journal: ChangeJournal;
  readonly #mutex = new Mutex();
  readonly #lock: ProcessLock;
  readonly #beside: Beside[] = [];
  #recovered: Promise<void> | undefined;

  constructor(guard: WorkspaceGuard, options: WorkspaceChangesOptions = {}) {
    this.guard = guard;
    const id = createHash("sha256").update(guard.root).digest("hex").slice(0, 16);
    this.stateDirectory = join(options.stateDirectory ?? join(tmpdir(), `forge-tools-${userInfo().uid}`), id);
    this.#journal = new ChangeJournal(join(this.stateDirectory, "journal"));
    this.#lock = new ProcessLock(join(this.stateDirectory, "lock"));
  }

  /** Takes back what a process that was killed left half done. Once; everything else waits for it. */
  recover(): Promise<void> {
    this.#recovered ??= this.#journal.recover(this.guard);
    return this.#recovered;
  }

  /** Adds somebody who is told of transactions. */
  beside(one: Beside): void {
    this.#beside.push(one);
  }

  /** Runs while no transaction does, of this process or of another one with the same state directory. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    await this.recover();
    return this.#mutex.run(() => this.#lock.run(work));
  }

  /**
   * Makes a plan and carries it out: nobody else changes files by Forge's hand in between. Throws previewStale() where it starts from something else than what
   * people saw. The plan as it was made is returned. What was changed is recorded with the call, also where it failed in the middle.
   */
  async carryOut(makePlan: () => Promise<ChangePlan>, call: ChangeCall): Promise<ChangePlan> {
    return this.alone(async () => {
      const plan = await makePlan();
      requireAsPreviewed(plan, call.previewed);
      const effective = plan.filter((planned) => !isUnchanged(planned));
      if (effective.length === 0) return plan;
      const kept = await keepContents(effective, (content, mediaType) => call.putArtifact(content, mediaType));
      await this.apply(effective, call.signal, (applied) => call.changed(recordOf(applied, kept)));
      return plan;
    });
  }

  /** Carries out a plan within `alone`; `onApplied` is told what was changed, also where it failed in the middle. */
  async apply(plan: ChangePlan, signal: AbortSignal, onApplied: (applied: readonly AppliedFile[]) => void): Promise<void> {
    for (const one of this.#beside) await one.before();
    try {
      const applied = await applyPlan(this.guard, this.#journal, plan, signal);
      onApplied(applied);
    } catch (error) {
      if (!(error instanceof PartlyApplied)) throw error;
      onApplied(error.applied);
      throw error.cause;
    } finally {
      const paths = plan.map(({ before }) => before.path);
      for (const one of this.#beside) await one.after(paths);
    }
  }
}
