/** Lets a command see less of the machine. It is part of the process tree, whose isolation it does not replace. */
export interface Enclosure {
  /** Throws where the command can't be enclosed. Whoever starts it calls `close` once it was spawned, or was not. */
  enclose(command: readonly string[], place: { readonly cwd: string; readonly environment: Readonly<Record<string, string>> }): EnclosedCommand;
}

/** A command with what has to be passed to it. */
export interface EnclosedCommand {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Open descriptors of this process by the number that the command has them at: 8, as lower ones are the caller's and 9 is the process tree's. */
  readonly descriptors: ReadonlyMap<number, number>;
  /** Closes this process's side of the descriptors. */
  close(): void;
}
