import type { EndedRun, Store } from "../ports/index.ts";
import { type ArchivePorts, archiveRun } from "./archive-run.ts";

/** Runs that one round looks at. */
const ROUND_MAX = 500;

export interface ArchiverOptions {
  readonly store: ArchivePorts & Pick<Store, "endedRuns">;
  /** Milliseconds after a run's end. */
  readonly archiveAfterMs: number;
  /** Whether every live control plane can read an archived run; until then nothing is done. */
  readonly mayArchive: () => Promise<boolean>;
  readonly onProblem: (error: unknown) => void;
}

/** Archives what ended long enough ago, oldest first, a bounded number at a time. Several of them, on as many replicas, do each other's work twice at worst. */
export class Archiver {
  readonly #options: ArchiverOptions;
  /** Where the last round ended: what could not be archived yet must not keep the rounds from what comes after it. */
  #after: EndedRun | undefined;

  constructor(options: ArchiverOptions) {
    this.#options = options;
  }

  /** How many it archived. One that can't be is told and passed over until the rounds begin anew. */
  async round(signal: AbortSignal): Promise<number> {
    const { store, archiveAfterMs, mayArchive, onProblem } = this.#options;
    if (!(await mayArchive())) return 0;
    const runs = await store.endedRuns({ olderThanMs: archiveAfterMs, limit: ROUND_MAX, ...(this.#after === undefined ? {} : { after: this.#after }) });
    let archived = 0;
    for (const run of runs) {
      if (signal.aborted) return archived;
      try {
        if ((await archiveRun(store, run.namespace, run.streamId)).outcome === "archived") archived++;
      } catch (error) {
        onProblem(error);
      }
      this.#after = run;
    }
    if (runs.length < ROUND_MAX) this.#after = undefined;
    return archived;
  }
}
