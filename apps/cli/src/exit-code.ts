/** What the process ends with; docs/reference/cli.md lists them. */
export const EXIT = {
  OK: 0,
  /** A run or turn failed, or something that has no number of its own. */
  FAILED: 1,
  USAGE: 2,
  NOT_FOUND: 3,
  CONFLICT: 4,
  UNREACHABLE: 5,
  /** Of `exec`: the model's provider, a person's policy or a hook said no. */
  REFUSED: 6,
  /** Of `exec`: a bound on steps, calls, tokens or cost. */
  BUDGET: 7,
  /** Of `exec`. */
  DEADLINE: 8,
  /** Of `exec`: a call was denied because nobody was there to allow it. */
  NEEDS_APPROVAL: 9,
  CANCELLED: 130,
} as const;
