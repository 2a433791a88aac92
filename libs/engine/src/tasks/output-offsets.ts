import { Lru } from "@forge/core";
import type { EventDraft } from "@forge/domain";
import type { OutputDelta } from "@forge/protocol/worker";

const TASKS_MAX = 10_000;
/** Of one task; output of further ones is not deduplicated. An answer makes at most 256 calls. */
const CHANNELS_MAX = 300;

/** What one piece of output adds; undefined where all of it was reported before. */
export function deltaDraft(delta: OutputDelta): EventDraft | undefined {
  switch (delta.kind.case) {
    case "turn":
      return { payload: { case: "turnOutputDelta", value: { ...delta.kind.value, epoch: delta.lease?.epoch ?? 0 } }, sensitive: true };
    case "tool":
      return { payload: { case: "toolOutputDelta", value: { ...delta.kind.value, epoch: delta.lease?.epoch ?? 0 } }, sensitive: true };
    case "progress":
      return { payload: { case: "userProgressReported", value: { ...delta.kind.value, epoch: delta.lease?.epoch ?? 0 } }, sensitive: true };
    case "structured":
      return { payload: { case: "userStructuredReported", value: { ...delta.kind.value, epoch: delta.lease?.epoch ?? 0 } }, sensitive: true };
    default:
      return undefined;
  }
}

function channelOf(delta: OutputDelta): { readonly channel: string; readonly offset: number; readonly length: number } | undefined {
  if (delta.kind.case === "tool") return { channel: "tool", offset: Number(delta.kind.value.offset), length: delta.kind.value.text.length };
  if (delta.kind.case === "progress" || delta.kind.case === "structured")
    return { channel: delta.kind.case, offset: Number(delta.kind.value.offset), length: 1 };
  if (delta.kind.case !== "turn") return undefined;
  const { channel, offset } = delta.kind.value;
  if (channel.case === "toolArguments") {
    return { channel: `arguments ${channel.value.providerCallId}`, offset: Number(offset), length: channel.value.argumentsJson.length };
  }
  return channel.case === undefined ? undefined : { channel: channel.case, offset: Number(offset), length: channel.value.length };
}

/** How far each task's output has come on this replica, so that a report that is sent again adds nothing. */
export class OutputOffsets {
  readonly #seen = new Lru<Map<string, number>>(TASKS_MAX);

  /** Whether a piece has not been reported yet. */
  isNew(taskId: string, delta: OutputDelta): boolean {
    const piece = channelOf(delta);
    return piece !== undefined && piece.offset >= (this.#seen.get(keyOf(taskId, delta))?.get(piece.channel) ?? 0);
  }

  /** The piece was appended under a lease that held. */
  count(taskId: string, delta: OutputDelta): void {
    const piece = channelOf(delta);
    if (piece === undefined) return;
    const key = keyOf(taskId, delta);
    const channels = this.#seen.get(key) ?? new Map<string, number>();
    if (channels.size >= CHANNELS_MAX && !channels.has(piece.channel)) return;
    channels.set(piece.channel, piece.offset + piece.length);
    this.#seen.set(key, channels);
  }
}

function keyOf(taskId: string, delta: OutputDelta): string {
  return `${taskId} ${delta.lease?.epoch ?? 0}`;
}
