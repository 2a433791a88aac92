/** The functions that show in a file's text. */
export interface FunctionNames {
  readonly names: readonly string[];
  /** Whether it may have more than shows: what it passes on of another file, or makes while it runs. */
  readonly isOpen: boolean;
}
