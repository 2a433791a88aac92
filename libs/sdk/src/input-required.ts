import { ForgeError } from "@forge/protocol";

const QUESTION_LENGTH_MAX = 4_096;
const RESUME_BYTES_MAX = 16 * 1024;
/** Tells it from what else is thrown, also where two copies of this package are loaded. */
const INPUT_REQUIRED: unique symbol = Symbol.for("forge.input-required");

/** Thrown by a tool that can't go on before a person has answered: the call ends here, and is made again with the answer in `context.inputs`. */
export class InputRequired extends Error {
  override readonly name = "InputRequired";
  readonly [INPUT_REQUIRED] = true;
  /** Empty where there is nothing. */
  readonly resumeJson: string;

  /**
   * The question has 1 to 4,096 characters. `resume` is what the call needs to go on, at most 16 KiB of JSON; it comes back as `context.resume`. Errors:
   * validation, naming the field.
   */
  constructor(question: string, resume?: unknown) {
    super(question.toWellFormed());
    if (question === "" || question.length > QUESTION_LENGTH_MAX) throw refused("question", `a question has 1 to ${QUESTION_LENGTH_MAX} characters`);
    this.resumeJson = resume === undefined ? "" : (JSON.stringify(resume) ?? "");
    if (Buffer.byteLength(this.resumeJson) > RESUME_BYTES_MAX)
      throw refused("resume", `what a call resumes with has at most ${RESUME_BYTES_MAX} bytes of JSON`);
  }
}

export function isInputRequired(thrown: unknown): thrown is InputRequired {
  return thrown instanceof Error && INPUT_REQUIRED in thrown;
}

function refused(field: string, message: string): ForgeError {
  return ForgeError.validation(field, message, { origin: "tool" });
}
