/** Names in one note. */
const NAMES_MAX = 8;
const NOTE_LENGTH_MAX = 256;

/** What a look at a workspace found that nobody can undo, for people. */
export class ScanNotes {
  readonly #ignored: string[] = [];
  readonly #forbidden: string[] = [];
  #nowIgnored = 0;
  #noLongerIgnored = 0;

  ignored(path: string): void {
    this.#ignored.push(path);
  }

  forbidden(path: string): void {
    this.#forbidden.push(path);
  }

  nowIgnored(): void {
    this.#nowIgnored++;
  }

  noLongerIgnored(): void {
    this.#noLongerIgnored++;
  }

  texts(): string[] {
    return [
      ...named("ignored", this.#ignored),
      ...named("forbidden", this.#forbidden),
      ...counted(this.#nowIgnored, "ignored from now on"),
      ...counted(this.#noLongerIgnored, "ignored no longer"),
    ];
  }
}

function named(what: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const shown = paths.slice(0, NAMES_MAX).join(", ");
  const more = paths.length > NAMES_MAX ? ` and ${paths.length - NAMES_MAX} more` : "";
  return [`${what}: ${shown.slice(0, NOTE_LENGTH_MAX - 40)}${more}`];
}

function counted(count: number, what: string): string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? "file or directory" : "files or directories"} ${what}`];
}
