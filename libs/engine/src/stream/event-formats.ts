/** The event formats that a control plane knows. */
export interface EventFormats {
  /** The newest that it reads. */
  readonly reads: number;
  /** Kinds that came after the first format, and the format that brought each. */
  readonly kinds: ReadonlyMap<string, number>;
}

/**
 * Of this version. A kind that older versions do not know raises `reads` and is entered with the new number: then it is written only once every live control plane reads it.
 */
export const EVENT_FORMATS: EventFormats = {
  reads: 2,
  kinds: new Map(
    ["run.forked", "run.signalled", "run.paused", "run.continued", "run.resumed", "run.deadline_passed", "step.skipped", "step.cancelled"].map((kind) => [
      kind,
      2,
    ]),
  ),
};

/** The format that came together with archives: a control plane that does not read it would take an archived stream for an empty one. */
export const ARCHIVE_FORMAT = 2;

/** The format that brought a kind. */
export function formatOf(formats: EventFormats, kind: string): number {
  return formats.kinds.get(kind) ?? 1;
}
