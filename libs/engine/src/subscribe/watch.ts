import { create } from "@bufbuild/protobuf";
import { type StreamChanged, StreamChangedSchema, type WatchStreamsResponse, WatchStreamsResponseSchema } from "@forge/protocol/event";
import type { KindedListing } from "../ports/index.ts";
import type { StreamKindName } from "../stream/aggregate.ts";
import { runSummary, sessionSummary } from "../stream/summaries.ts";
import { streamRef } from "../tasks/task-id.ts";
import type { Watcher, Watchers } from "./watchers.ts";

/** What to watch, checked. */
export interface WatchRequest {
  readonly namespace: string;
  /** Absent: every kind. */
  readonly kind?: StreamKindName;
  /** All must match. */
  readonly labels: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export interface WatchPorts {
  readonly watchers: Watchers;
  readonly heartbeatMs: number;
}

/** Streams that may wait for one reader, each in its newest state; beyond that it is told to read its lists anew. */
const WAITING_MAX = 10_000;

/** `ready`, then every stream that changes in lists, in its newest state. Ends when the signal aborts. */
export async function* watch(request: WatchRequest, { watchers, heartbeatMs }: WatchPorts): AsyncGenerator<WatchStreamsResponse> {
  const { namespace, signal } = request;
  const watching = new Watching(request);
  watchers.add(namespace, watching);
  try {
    while (!signal.aborted) {
      const next = watching.take() ?? (await watching.wait(heartbeatMs));
      if (!signal.aborted && next !== undefined) yield next;
    }
  } finally {
    watchers.remove(namespace, watching);
  }
}

class Watching implements Watcher {
  readonly #request: WatchRequest;
  readonly #waiting = new Map<string, KindedListing>();
  #isReady = false;
  #wake: (() => void) | undefined;

  constructor(request: WatchRequest) {
    this.#request = request;
  }

  onChanged(row: KindedListing): void {
    const { kind, labels } = this.#request;
    if (kind !== undefined && row.kind !== kind) return;
    if (Object.entries(labels).some(([key, value]) => row.labels[key] !== value)) return;
    if (this.#waiting.size >= WAITING_MAX && !this.#waiting.has(row.streamId)) this.onMissed();
    else this.#waiting.set(row.streamId, row);
    this.#wake?.();
  }

  onMissed(): void {
    // What waits is in the lists that will be read.
    this.#waiting.clear();
    this.#isReady = false;
    this.#wake?.();
  }

  /** What the reader is told next; undefined: nothing. */
  take(): WatchStreamsResponse | undefined {
    if (!this.#isReady) {
      this.#isReady = true;
      return create(WatchStreamsResponseSchema, { kind: { case: "ready", value: {} } });
    }
    const [row] = this.#waiting.values();
    if (row === undefined) return undefined;
    this.#waiting.delete(row.streamId);
    return create(WatchStreamsResponseSchema, { kind: { case: "changed", value: changed(row) } });
  }

  /** The same once there is something, or the heartbeat; undefined where the signal aborts first. */
  async wait(heartbeatMs: number): Promise<WatchStreamsResponse | undefined> {
    const { signal } = this.#request;
    const woken = await new Promise<boolean>((resolve) => {
      const end = (isWoken: boolean) => () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", wake);
        this.#wake = undefined;
        resolve(isWoken);
      };
      const wake = end(true);
      const timer = setTimeout(end(false), heartbeatMs);
      signal.addEventListener("abort", wake);
      this.#wake = wake;
    });
    if (signal.aborted) return undefined;
    return woken ? this.take() : create(WatchStreamsResponseSchema, { kind: { case: "heartbeat", value: {} } });
  }
}

function changed(row: KindedListing): StreamChanged {
  const summary = row.kind === "session" ? ({ case: "session", value: sessionSummary(row) } as const) : ({ case: "run", value: runSummary(row) } as const);
  return create(StreamChangedSchema, { stream: streamRef(row.kind, row.streamId), summary });
}
