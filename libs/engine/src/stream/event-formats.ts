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
export const EVENT_FORMATS: EventFormats = { reads: 1, kinds: new Map() };

/** The format that brought a kind. */
export function formatOf(formats: EventFormats, kind: string): number {
  return formats.kinds.get(kind) ?? 1;
}
