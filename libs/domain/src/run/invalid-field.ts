/** Thrown by the checks of a StartRun and caught where they begin; it becomes a refusal that names the field. */
export class InvalidField extends Error {
  /** As in the proto, for example `definition.steps[2].next[0].goto`. */
  readonly field: string;
  readonly reason: string;

  constructor(field: string, message: string, reason = "") {
    super(message);
    this.field = field;
    this.reason = reason;
  }
}

/** Refuses a field of the definition, or all of it where the field is empty. */
export function invalidDefinition(field: string, message: string): InvalidField {
  return new InvalidField(field === "" ? "definition" : `definition.${field}`, message, "WORKFLOW_VALIDATION");
}
