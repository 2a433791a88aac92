/** Thrown by a tool that can't go on before a person has answered: the call ends here, and is dispatched again with the answer. */
export class InputRequired extends Error {
  override readonly name = "InputRequired";
  /** What the call needs to go on, at most 16 KiB; comes back as ToolCall.resumeJson. */
  readonly resumeJson: string;

  /** The question has at most 4,096 characters. */
  constructor(question: string, resumeJson = "") {
    super(question);
    this.resumeJson = resumeJson;
  }
}
