import { create } from "@bufbuild/protobuf";
import { type TurnOutputDelta, TurnOutputDeltaSchema } from "@forge/protocol/event";
import type { OutputDelta } from "@forge/protocol/worker";
import { createDeltaChannel, type DeltaChannel } from "./delta-channel.ts";
import type { WrittenCall, WrittenText } from "./written-part.ts";

/** Reports an answer while it is written: one channel for its text, one for its reasoning, one for each call's arguments. */
export class AnswerDeltas {
  readonly #epoch: number;
  readonly #report: (kind: OutputDelta["kind"]) => void;
  readonly #text: Record<WrittenText["kind"], DeltaChannel>;
  readonly #arguments = new Map<WrittenCall, DeltaChannel>();

  constructor(epoch: number, report: (kind: OutputDelta["kind"]) => void) {
    this.#epoch = epoch;
    this.#report = report;
    this.#text = {
      text: createDeltaChannel((offset, text) => this.#send(offset, { case: "text", value: text })),
      reasoning: createDeltaChannel((offset, text) => this.#send(offset, { case: "reasoning", value: text })),
    };
  }

  write(kind: WrittenText["kind"], text: string): void {
    this.#text[kind].write(text);
  }

  writeArguments(call: WrittenCall, text: string): void {
    let channel = this.#arguments.get(call);
    if (!channel) {
      channel = createDeltaChannel((offset, argumentsJson) => {
        const value = { $typeName: "forge.event.v1.ToolArgumentsDelta" as const, providerCallId: call.providerCallId, tool: call.tool, argumentsJson };
        this.#send(offset, { case: "toolArguments", value });
      });
      this.#arguments.set(call, channel);
    }
    channel.write(text);
  }

  /** Sends what was held back; nothing is written afterwards. */
  end(): void {
    for (const channel of [this.#text.text, this.#text.reasoning, ...this.#arguments.values()]) channel.end();
  }

  #send(offset: bigint, channel: TurnOutputDelta["channel"]): void {
    this.#report({ case: "turn", value: create(TurnOutputDeltaSchema, { offset, channel, epoch: this.#epoch }) });
  }
}
