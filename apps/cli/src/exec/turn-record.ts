import type { Usage } from "@forge/protocol/common";
import type { Event } from "@forge/protocol/event";
import { TurnOutcome } from "@forge/protocol/session";
import { callText } from "../chat/call-text.ts";
import { momentMs } from "../output/format-time.ts";
import type { TurnEnd } from "./exit-codes.ts";

/** Why this command stopped a turn. */
export type StopReason = "late" | "cancelled" | "question";

/** What of one turn its end is told with. */
export class TurnRecord {
  turnId = "";
  /** The last answer, whole. */
  text = "";
  usage: Usage | undefined;
  stopped: StopReason | undefined;
  readonly changed = new Set<string>();
  /** Calls that were denied because nobody was there to allow them. */
  readonly unapproved: string[] = [];
  #calls = new Map<string, string>();
  #startedMs = 0;
  #endedMs = 0;
  #end: Pick<TurnEnd, "kind" | "outcome" | "error"> | undefined;

  get durationMs(): number {
    return Math.max(0, this.#endedMs - this.#startedMs);
  }

  /** How it ended; as cancelled where nobody waited for its end. */
  get end(): TurnEnd {
    const end = this.#end ?? { kind: "cancelled" as const, outcome: TurnOutcome.UNSPECIFIED };
    const hasQuestion = this.stopped === "question";
    return {
      ...end,
      unapproved: this.unapproved.length,
      isLate: this.stopped === "late",
      ...(hasQuestion ? { kind: "completed", outcome: TurnOutcome.TASK_COMPLETED } : {}),
    };
  }

  /** A call, or a question, that would have needed a person. */
  deny(what: string): void {
    this.unapproved.push(what);
  }

  apply({ payload, turnId, toolCallId, occurredAt }: Event): void {
    switch (payload.case) {
      case "turnStarted":
        this.turnId = turnId;
        this.#startedMs = momentMs(occurredAt);
        break;
      case "modelCompleted": {
        const text = payload.value.parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : "")).join("");
        if (text !== "") this.text = text;
        break;
      }
      case "toolRequested":
        this.#calls.set(toolCallId, callText(payload.value.tool, payload.value.argumentsJson));
        break;
      case "toolDenied":
        // The gate answered in a person's place.
        if (payload.value.decision?.source === "policy:answer") this.deny(this.#calls.get(toolCallId) ?? "");
        break;
      case "workspaceChangeRecorded":
        for (const { path } of payload.value.files) this.changed.add(path);
        break;
      case "turnCompleted":
        this.#ended("completed", payload.value.outcome, payload.value.usage, occurredAt);
        break;
      case "turnFailed":
        this.#ended("failed", payload.value.outcome, payload.value.usage, occurredAt, payload.value.error);
        break;
      case "turnCancelled":
        this.#ended("cancelled", TurnOutcome.UNSPECIFIED, payload.value.usage, occurredAt);
        break;
      case "turnAbandoned":
        this.#ended("abandoned", TurnOutcome.UNSPECIFIED, payload.value.usage, occurredAt);
        break;
      default:
        break;
    }
  }

  /** What a sub-agent's calls add to it: its answers and its end are none of the turn's. */
  applyChild(event: Event): void {
    const { payload } = event;
    if (payload.case === "toolRequested" || payload.case === "toolDenied" || payload.case === "workspaceChangeRecorded") this.apply(event);
  }

  #ended(kind: TurnEnd["kind"], outcome: TurnOutcome, usage: Usage | undefined, at: Event["occurredAt"], error?: TurnEnd["error"]): void {
    this.#end = { kind, outcome, error };
    this.usage = usage;
    this.#endedMs = momentMs(at);
  }
}
