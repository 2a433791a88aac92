/** The event formats that a control plane knows. */
export interface EventFormats {
  /** The newest that it reads. */
  readonly reads: number;
  /** Kinds that came after the first format, and the format that brought each. */
  readonly kinds: ReadonlyMap<string, number>;
}

/** What people may do to a run. */
const RUN_KINDS = ["run.forked", "run.signalled", "run.paused", "run.continued", "run.resumed", "run.deadline_passed", "step.skipped", "step.cancelled"];

/** The agent loop and what its tools do. */
const AGENT_KINDS = [
  "session.compaction_requested",
  "session.compaction_failed",
  "session.rewound",
  "tool.previewed",
  "tool.arguments_edited",
  "tool.retried",
  "plan.updated",
  "user.progress_reported",
  "user.structured_reported",
  "hook.requested",
  "hook.completed",
  "hook.failed",
  "workspace.change_recorded",
  "workspace.undo_requested",
  "workspace.change_undone",
  "workspace.undo_failed",
];

/** Concurrency keys of runs. */
const CONCURRENCY_KINDS = ["run.queued", "concurrency.requested", "concurrency.granted", "concurrency.released"];

/**
 * Of this version. A kind that older versions do not know raises `reads` and is entered with the new number: then it is written only once every live control plane reads it.
 */
export const EVENT_FORMATS: EventFormats = {
  reads: 3,
  kinds: new Map([...ofFormat(2, RUN_KINDS), ...ofFormat(3, AGENT_KINDS), ...ofFormat(3, CONCURRENCY_KINDS)]),
};

/** The format that came together with archives: a control plane that does not read it would take an archived stream for an empty one. */
export const ARCHIVE_FORMAT = 2;

/** The format that brought a kind. */
export function formatOf(formats: EventFormats, kind: string): number {
  return formats.kinds.get(kind) ?? 1;
}

function ofFormat(format: number, kinds: readonly string[]): readonly (readonly [string, number])[] {
  return kinds.map((kind) => [kind, format]);
}
