import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { UserProgressReportedSchema, UserStructuredReportedSchema } from "@forge/protocol/event";
import type { TaskContext } from "@forge/worker";
import { cutText } from "../text.ts";
import type { JsonValue } from "./tool-definition.ts";

const PIECES_MAX = 1_000;
const MESSAGE_LENGTH_MAX = 1_024;
const TYPE_LENGTH_MAX = 128;
const JSON_BYTES_MAX = 16 * 1024;

/** What a call tells people and applications beside its output. */
export class UserNotes {
  readonly #context: TaskContext;
  #progressed = 0;
  #structured = 0;

  constructor(context: TaskContext) {
    this.#context = context;
  }

  progress(message: string, fraction?: number): void {
    if (this.#isFull()) return;
    const value = create(UserProgressReportedSchema, {
      message: cutText(message, MESSAGE_LENGTH_MAX),
      fraction: fraction === undefined ? undefined : Math.min(1, Math.max(0, fraction)),
      epoch: this.#context.lease.epoch,
      offset: BigInt(this.#progressed++),
    });
    this.#context.report({ case: "progress", value });
  }

  /** Errors: validation. */
  structured(type: string, value: JsonValue): void {
    const json = JSON.stringify(value);
    if (type === "" || type.length > TYPE_LENGTH_MAX || Buffer.byteLength(json) > JSON_BYTES_MAX) {
      throw ForgeError.validation("type", `a report has a type of 1 to ${TYPE_LENGTH_MAX} characters and at most ${JSON_BYTES_MAX} bytes of JSON`, {
        origin: "tool",
      });
    }
    if (this.#isFull()) return;
    const { epoch } = this.#context.lease;
    this.#context.report({ case: "structured", value: create(UserStructuredReportedSchema, { type, json, epoch, offset: BigInt(this.#structured++) }) });
  }

  #isFull(): boolean {
    return this.#progressed + this.#structured >= PIECES_MAX;
  }
}
