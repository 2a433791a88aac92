/** What is wrong with an expression or template, and where: `position` is an offset in UTF-16 units from 0. */
export interface TextError {
  readonly message: string;
  readonly position: number;
}

/** A value, or what was wrong. */
export type Result<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: TextError };

/** Thrown inside the parser and the evaluator only; their entry points turn it into a Result. */
export class TextFailure extends Error {
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

/** Runs `work`; a TextFailure becomes an error value, everything else is a bug and stays thrown. */
export function toResult<T>(work: () => T): Result<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    if (error instanceof TextFailure) return { ok: false, error: { message: error.message, position: error.position } };
    throw error;
  }
}
