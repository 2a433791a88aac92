import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { UserProgressReportedSchema, UserStructuredReportedSchema } from "@forge/protocol/event";
import type { TaskContext } from "@forge/worker";
import { jsonValueProblem } from "@forge/worker/json-problem";

/** Of one call, both kinds together. */
const PIECES_MAX = 1_000;
const MESSAGE_LENGTH_MAX = 1_024;
const TYPE_LENGTH_MAX = 128;
const JSON_BYTES_MAX = 16 * 1024;

/** What a call tells people and applications beside its output. */
export class UserNotes {
  readonly #context: Pick<TaskContext, "lease" | "report">;
  #progressed = 0;
  #structured = 0;

  constructor(context: Pick<TaskContext, "lease" | "report">) {
    this.#context = context;
  }

  progress(message: string, fraction?: number): void {
    if (this.#isFull()) return;
    const value = create(UserProgressReportedSchema, {
      message: message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed(),
      fraction: fraction === undefined || Number.isNaN(fraction) ? undefined : Math.min(1, Math.max(0, fraction)),
      epoch: this.#context.lease.epoch,
      offset: BigInt(this.#progressed++),
    });
    this.#context.report({ case: "progress", value });
  }

  /** Errors: validation, naming the field. */
  structured(type: string, value: unknown): void {
    if (type === "" || type.length > TYPE_LENGTH_MAX) throw refused("type", `a report has a type of 1 to ${TYPE_LENGTH_MAX} characters`);
    const problem = jsonValueProblem(value);
    if (problem !== undefined) throw refused("value", `a report can't be kept: ${problem}`);
    const json = JSON.stringify(value);
    if (Buffer.byteLength(json) > JSON_BYTES_MAX) throw refused("value", `a report has at most ${JSON_BYTES_MAX} bytes of JSON`);
    if (this.#isFull()) return;
    const { epoch } = this.#context.lease;
    const offset = BigInt(this.#structured++);
    this.#context.report({ case: "structured", value: create(UserStructuredReportedSchema, { type: type.toWellFormed(), json, epoch, offset }) });
  }

  #isFull(): boolean {
    return this.#progressed + this.#structured >= PIECES_MAX;
  }
}

function refused(field: string, message: string): ForgeError {
  return ForgeError.validation(field, message, { origin: "tool" });
}
