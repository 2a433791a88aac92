import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { AppendOutcome, Store, StoredCommand, StoredEvent, StreamAppend } from "../ports/index.ts";

interface Stream {
  readonly kind: StreamAppend["kind"];
  seq: number;
  readonly events: StoredEvent[];
  readonly commands: StoredCommand[];
}

/** What the next append of the test meets before, or instead of, the real outcome. */
export type Fault =
  /** The row is locked by somebody. */
  | "busy"
  /** The connection is lost before the append reached the database. */
  | "lost-before"
  /** The append is committed and its answer is lost. */
  | "lost-after";

/** The part of a Store that streams need, in memory, with faults on demand. For tests of the engine alone; the real store has its own suite. */
export class MemoryStreams {
  readonly streams = new Map<string, Stream>();
  readonly faults: Fault[] = [];
  readonly batches: (readonly StreamAppend[])[] = [];
  /** Keys of tasks whose lease does not hold. */
  readonly fencedKeys = new Set<string>();
  loads = 0;
  /** Resolves when a snapshot may be saved. */
  snapshotSaved: Promise<void> = Promise.resolve();

  /** As the port that the engine takes; a method that these tests do not reach is missing. */
  asStore(): Store {
    return {
      append: async (appends: readonly StreamAppend[]) => this.#append(appends),
      load: async (_: string, streamId: string) => {
        this.loads++;
        const stream = this.streams.get(streamId);
        return stream === undefined ? undefined : { kind: stream.kind, seq: stream.seq, snapshot: undefined, events: [...stream.events] };
      },
      heads: async (asked: readonly { streamId: string; namespace: string }[]) =>
        asked.flatMap(({ namespace, streamId }) => {
          const stream = this.streams.get(streamId);
          return stream === undefined ? [] : [{ namespace, streamId, kind: stream.kind, seq: stream.seq }];
        }),
      findCommands: async (_: string, streamId: string, ids: readonly string[]) =>
        (this.streams.get(streamId)?.commands ?? []).filter((command) => ids.includes(command.commandId)),
      saveSnapshot: async () => this.snapshotSaved,
      getArtifact: async () => undefined,
    } as unknown as Store;
  }

  #append(appends: readonly StreamAppend[]): AppendOutcome[] {
    const fault = this.faults.shift();
    if (fault === "busy") return appends.map(() => ({ outcome: "busy" }));
    if (fault === "lost-before") throw lost();
    this.batches.push(appends);
    const outcomes = appends.map((append) => this.#one(append));
    if (fault === "lost-after") throw lost();
    return outcomes;
  }

  #one(append: StreamAppend): AppendOutcome {
    const stream = this.streams.get(append.streamId);
    const ids = new Set(append.commands.map((command) => command.commandId));
    if (stream?.commands.some((command) => ids.has(command.commandId)) === true) return { outcome: "seen" };
    if ((stream?.seq ?? 0) !== append.expectedSeq) return { outcome: "conflict", seq: stream?.seq ?? 0 };
    if (append.requires.some((proof) => this.fencedKeys.has(proof.key))) return { outcome: "fenced" };
    const after = stream ?? { kind: append.kind, seq: 0, events: [], commands: [] };
    after.seq += append.events.length;
    if (!append.deltas) after.events.push(...append.events);
    after.commands.push(...append.commands.map((command) => ({ ...command, decidedAtMs: 0 })));
    this.streams.set(append.streamId, after);
    return { outcome: "ok" };
  }
}

function lost(): ForgeError {
  return new ForgeError(ErrorCode.STORAGE_ERROR, "the connection was lost");
}
