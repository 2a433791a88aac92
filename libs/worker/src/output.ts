import { create } from "@bufbuild/protobuf";
import { type TaskLease } from "@forge/protocol/common";
import { type OutputDelta, OutputDeltaSchema } from "@forge/protocol/worker";

type Kind = OutputDelta["kind"];

/** Between two reports of one task. */
const INTERVAL_MS = 50;
/** Characters after which a report goes at once. */
const CHARACTERS_MAX = 4096;

/** The second piece appended to the first, where both are of one channel; undefined where they are not. */
function merged(first: Kind, second: Kind): Kind | undefined {
  if (first.case === "tool" && second.case === "tool") return { case: "tool", value: { ...first.value, text: first.value.text + second.value.text } };
  if (first.case !== "turn" || second.case !== "turn") return undefined;
  const [a, b] = [first.value.channel, second.value.channel];
  if ((a.case === "text" && b.case === "text") || (a.case === "reasoning" && b.case === "reasoning")) {
    return { case: "turn", value: { ...first.value, channel: { case: a.case, value: a.value + b.value } } };
  }
  if (a.case !== "toolArguments" || b.case !== "toolArguments" || a.value.providerCallId !== b.value.providerCallId) return undefined;
  return {
    case: "turn",
    value: { ...first.value, channel: { case: "toolArguments", value: { ...a.value, argumentsJson: a.value.argumentsJson + b.value.argumentsJson } } },
  };
}

function characters(kind: Kind): number {
  if (kind.case === "tool") return kind.value.text.length;
  const channel = kind.case === "turn" ? kind.value.channel : undefined;
  if (channel?.case === "toolArguments") return channel.value.argumentsJson.length;
  return channel?.case === undefined ? 0 : channel.value.length;
}

/**
 * A running task's output on its way: the first piece at once, then every 50 ms or 4 KiB. What is left when the task ends is dropped, since its
 * settlement carries the whole; a report that fails loses nothing but the view of it.
 */
export class Output {
  readonly #lease: TaskLease;
  readonly #send: (deltas: OutputDelta[]) => Promise<void>;
  #pieces: Kind[] = [];
  #characters = 0;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #sending = false;
  #lastMs = 0;
  #ended = false;

  constructor(lease: TaskLease, send: (deltas: OutputDelta[]) => Promise<void>) {
    this.#lease = lease;
    this.#send = send;
  }

  push(kind: Kind): void {
    if (this.#ended) return;
    const last = this.#pieces.at(-1);
    const joined = last === undefined ? undefined : merged(last, kind);
    if (joined === undefined) this.#pieces.push(kind);
    else this.#pieces[this.#pieces.length - 1] = joined;
    this.#characters += characters(kind);
    this.#schedule();
  }

  end(): void {
    this.#ended = true;
    this.#pieces = [];
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
  }

  #schedule(): void {
    if (this.#sending || this.#pieces.length === 0) return;
    const waitMs = this.#characters >= CHARACTERS_MAX ? 0 : Math.max(0, this.#lastMs + INTERVAL_MS - Date.now());
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    // "At once" is after this turn of the event loop: what came in one piece from the network goes in one report, and what is settled by then needs none.
    if (waitMs === 0) this.#immediate = setImmediate(() => void this.#flush());
    else this.#timer = setTimeout(() => void this.#flush(), waitMs);
  }

  async #flush(): Promise<void> {
    const deltas = this.#pieces.map((kind) => create(OutputDeltaSchema, { lease: this.#lease, kind }));
    this.#pieces = [];
    this.#characters = 0;
    this.#sending = true;
    this.#lastMs = Date.now();
    // Output is a view: the settlement carries the whole, so a failed report is not tried again.
    await this.#send(deltas).catch(() => undefined);
    this.#sending = false;
    if (!this.#ended) this.#schedule();
  }
}
