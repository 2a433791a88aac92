import { type FSWatcher, watch } from "node:fs";
import path from "node:path";

/** An editor writes a file in several steps. */
const SETTLE_MS = 150;

/** Watches the directories of files, not the files: an editor that replaces one would take it out of sight. */
export class SourceWatch {
  readonly #onChange: () => void;
  readonly #onProblem: (error: unknown) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;

  /** `onChange` is called when something in a watched directory has changed and then nothing for a moment. */
  constructor(onChange: () => void, onProblem: (error: unknown) => void) {
    this.#onChange = onChange;
    this.#onProblem = onProblem;
  }

  /** Watches the directories of these files, and no others any more. */
  follow(files: readonly string[]): void {
    const directories = new Set(files.map((file) => path.dirname(file)));
    for (const [directory, watcher] of this.#watchers) {
      if (directories.has(directory)) continue;
      watcher.close();
      this.#watchers.delete(directory);
    }
    for (const directory of directories) if (!this.#watchers.has(directory)) this.#open(directory);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #open(directory: string): void {
    const changed = (): void => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#onChange(), SETTLE_MS);
    };
    try {
      const watcher = watch(directory, changed);
      watcher.on("error", (error) => {
        // For example when the directory was removed.
        this.#watchers.delete(directory);
        watcher.close();
        this.#onProblem(error);
      });
      this.#watchers.set(directory, watcher);
    } catch (error) {
      this.#onProblem(error);
    }
  }
}
