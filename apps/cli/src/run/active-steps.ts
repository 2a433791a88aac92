import { StreamKind } from "@forge/protocol/common";
import type { Event, StepStarted } from "@forge/protocol/event";
import { StepTypeSchema } from "@forge/protocol/workflow";
import { formatMoment, momentMs } from "../output/format-time.ts";
import { enumName } from "../output/message-json.ts";
import { oneLine, safeText } from "../output/text.ts";

/** An execution that is under way. */
export interface ActiveStep {
  readonly id: string;
  readonly type: string;
  readonly index: number;
  readonly startedAtMs: number;
  /** Of one item of a list: the execution of the whole list, and its place there. */
  readonly item: { readonly group: number; readonly index: number } | undefined;
  /** Of a list: its items, and what has become of them. */
  readonly items: { readonly count: number; ended: number; failed: number } | undefined;
  /** What it waits for. */
  readonly waits: string;
  sessionId: string;
  readonly childRunId: string;
  /** What it is busy with, shown below it. */
  detail: string;
  /** The text that its agent writes at the moment. */
  text: string;
}

/** What is kept of a text that streams: more than any terminal is wide. */
const TEXT_CHARACTERS_MAX = 1_000;

/** The executions of a run that are under way, by the events that tell of them. */
export class ActiveSteps {
  /** By execution index, in the order of their beginning. */
  readonly #byIndex = new Map<number, ActiveStep>();

  get size(): number {
    return this.#byIndex.size;
  }

  values(): ActiveStep[] {
    return Array.from(this.#byIndex.values());
  }

  /** Takes the beginning of an attempt; whether the execution begins with it. */
  start({ stepId, occurredAt }: Event, started: StepStarted): { readonly step: ActiveStep; readonly isNew: boolean } {
    const known = this.#byIndex.get(started.executionIndex);
    if (known?.id === stepId) {
      known.detail = `attempt ${started.attempt}`;
      known.text = "";
      if (started.sessionId !== "") known.sessionId = started.sessionId;
      return { step: known, isNew: false };
    }
    const { executionIndex: index, groupIndex, itemIndex, itemCount, sessionId, childRunId } = started;
    const step: ActiveStep = {
      id: stepId,
      type: enumName(StepTypeSchema, started.stepType).toLowerCase(),
      index,
      startedAtMs: momentMs(occurredAt),
      item: groupIndex === undefined || itemIndex === undefined ? undefined : { group: groupIndex, index: itemIndex },
      items: itemCount === undefined ? undefined : { count: itemCount, ended: 0, failed: 0 },
      waits: waitText(started),
      sessionId,
      childRunId,
      detail: "",
      text: "",
    };
    this.#byIndex.set(index, step);
    return { step, isNew: true };
  }

  /** Takes an execution out; undefined where it was not seen to begin. */
  end(event: Event, executionIndex: number | undefined, hasFailed: boolean): ActiveStep | undefined {
    const step = this.#of(event, executionIndex);
    if (step === undefined) return undefined;
    this.#byIndex.delete(step.index);
    const list = step.item === undefined ? undefined : this.#byIndex.get(step.item.group)?.items;
    if (list !== undefined) {
      list.ended++;
      if (hasFailed) list.failed++;
    }
    return step;
  }

  /** Takes everything out. */
  clear(): ActiveStep[] {
    const all = this.values();
    this.#byIndex.clear();
    return all;
  }

  /** The execution that an event is about: of the run itself, of a session that works for it, or of a run that it started. */
  about(event: Event): ActiveStep | undefined {
    const id = event.stream?.id ?? "";
    if (event.stream?.kind === StreamKind.SESSION) return this.values().find(({ sessionId }) => sessionId === id) ?? this.#only();
    return this.values().find(({ childRunId }) => childRunId !== "" && childRunId === id) ?? this.#of(event, undefined);
  }

  busyWith(event: Event, what: string): void {
    const step = this.about(event);
    if (step === undefined) return;
    step.detail = what;
    step.text = "";
  }

  write(event: Event, text: string, isNew: boolean): void {
    const step = this.about(event);
    if (step === undefined) return;
    const all = (isNew ? "" : step.text) + safeText(text).replaceAll(/\s+/g, " ");
    step.text = all.slice(-TEXT_CHARACTERS_MAX).toWellFormed();
  }

  /** By its index; an event without one is about the step's only execution. */
  #of({ stepId }: Event, executionIndex: number | undefined): ActiveStep | undefined {
    if (executionIndex === undefined) return this.values().findLast(({ id }) => id === stepId);
    const step = this.#byIndex.get(executionIndex);
    return step?.id === stepId ? step : undefined;
  }

  /** A session whose step nobody has seen begin works for the only one there is. */
  #only(): ActiveStep | undefined {
    const [only, ...others] = this.values();
    return others.length === 0 && only?.sessionId === "" ? only : undefined;
  }
}

/** The name that an execution is shown by: an item has its place in the list. */
export function executionName({ id, item }: Pick<ActiveStep, "id" | "item">): string {
  return item === undefined ? oneLine(id) : `${oneLine(id)}[${item.index}]`;
}

function waitText({ waitsForSignal, waitsUntil, approvalId, question }: StepStarted): string {
  if (approvalId !== "") return `for an answer: ${oneLine(question)}`;
  const until = waitsUntil === undefined ? "" : formatMoment(momentMs(waitsUntil));
  if (waitsForSignal !== "") return `for the signal ${oneLine(waitsForSignal)}${until === "" ? "" : `, at most until ${until}`}`;
  return until === "" ? "" : `until ${until}`;
}
