/** What serves a file, from the command's arguments. */
export interface WorkerSettings {
  readonly file: string;
  readonly name: string;
  readonly queues: readonly string[];
  readonly slots: number;
  readonly reload: boolean;
  readonly isJson: boolean;
}

/** How a worker's end was asked for: once lets it finish what runs, `hurry` aborts when it must not wait for that any more. */
export interface WorkerEnd {
  readonly asked: AbortSignal;
  readonly hurry: AbortSignal;
}
