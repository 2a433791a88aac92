import { setTimeout as delay } from "node:timers/promises";
import { type ForgeClient, followEvents } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { type TurnOutcome, TurnOutcomeSchema } from "@forge/protocol/session";

/** A turn that has ended; plain data, because it is told to another process. */
export interface TurnEnd {
  readonly sessionId: string;
  readonly turnId: string;
  readonly outcome: "completed" | "failed" | "cancelled" | "abandoned";
  /** For example task_completed; of what completed or failed. */
  readonly turnOutcome: string;
  /** The last answer's text, shortened; of what completed. */
  readonly text: string;
  /** Of what failed. */
  readonly error: string;
}

/** Whose ends are watched, and who is told. */
export interface WatchEndsOptions {
  readonly client: ForgeClient;
  /** Only sessions that this queue works for. */
  readonly queue: string;
  onTurnEnd(end: TurnEnd): void;
  onSessionEnd(sessionId: string): void;
  /** The events could not be read; it goes on. */
  onProblem(error: unknown): void;
}

const RETRY_MS = 1_000;
/** Sessions whose position is remembered; one that is forgotten is read from its beginning, where what had ended before no longer counts. */
const SESSIONS_MAX = 10_000;
/** A session of another queue. */
const NEVER = Number.POSITIVE_INFINITY;
const DELTAS = ["turn.output_delta", "tool.output_delta", "user.progress_reported", "user.structured_reported"];
const ENDS: Readonly<Record<string, TurnEnd["outcome"]>> = {
  turnCompleted: "completed",
  turnFailed: "failed",
  turnCancelled: "cancelled",
  turnAbandoned: "abandoned",
};

/**
 * Tells of each turn and session that ends while this runs: once, or not at all where this process ends before. For what may be missed, like tidying up; nothing
 * of a session may depend on it.
 */
export function watchEnds(options: WatchEndsOptions): { stop(): Promise<void> } {
  const stop = new AbortController();
  // Seconds: the database has a clock of its own.
  const startedAtS = Math.floor(Date.now() / 1000);
  const positions = new Map<string, number>();

  const tell = (sessionId: string, event: Event): void => {
    if (Number(event.occurredAt?.seconds ?? 0) < startedAtS) return;
    if (event.payload.case === "sessionClosed") options.onSessionEnd(sessionId);
    const outcome = ENDS[event.payload.case ?? ""];
    if (outcome !== undefined) options.onTurnEnd({ sessionId, turnId: event.turnId, outcome, ...details(event) });
  };

  const readOn = async (sessionId: string): Promise<void> => {
    const afterSeq = positions.get(sessionId) ?? (await firstSeq(options, sessionId, stop.signal));
    let seq = afterSeq;
    if (afterSeq !== NEVER) {
      const stream = { kind: StreamKind.SESSION, id: sessionId };
      for await (const followed of followEvents(options.client, {
        streams: [{ stream, afterSeq }],
        excludeKinds: DELTAS,
        noFollow: true,
        signal: stop.signal,
      })) {
        if (followed.kind !== "event") continue;
        seq = Number(followed.event.seq);
        tell(sessionId, followed.event);
      }
    }
    positions.delete(sessionId);
    positions.set(sessionId, seq);
    const [oldest] = positions.keys();
    if (positions.size > SESSIONS_MAX && oldest !== undefined) positions.delete(oldest);
  };

  const watch = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      try {
        for await (const { kind } of options.client.event.watchStreams({ kind: StreamKind.SESSION }, { signal: stop.signal })) {
          if (kind.case === "changed" && kind.value.stream !== undefined) await readOn(kind.value.stream.id);
        }
      } catch (error) {
        if (!stop.signal.aborted) options.onProblem(error);
      }
      await delay(RETRY_MS, undefined, { signal: stop.signal }).catch(() => {});
    }
  };
  const watching = watch();
  return {
    async stop() {
      stop.abort();
      await watching;
    },
  };
}

/** From where a session is read that was not seen before: its beginning, since what happened before this began is not told. */
async function firstSeq({ client, queue }: WatchEndsOptions, sessionId: string, signal: AbortSignal): Promise<number> {
  const { session } = await client.session.getSessionSnapshot({ sessionId }, { signal });
  return session?.queue === queue ? 0 : NEVER;
}

function details({ payload }: Event): Pick<TurnEnd, "turnOutcome" | "text" | "error"> {
  const nothing = { turnOutcome: "", text: "", error: "" };
  if (payload.case === "turnCompleted") return { ...nothing, turnOutcome: nameOf(payload.value.outcome), text: payload.value.textPreview };
  if (payload.case === "turnFailed") return { ...nothing, turnOutcome: nameOf(payload.value.outcome), error: payload.value.error?.message ?? "" };
  return nothing;
}

function nameOf(outcome: TurnOutcome): string {
  return (TurnOutcomeSchema.value[outcome]?.name ?? "").replace("TURN_OUTCOME_", "").toLowerCase();
}
