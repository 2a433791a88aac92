import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { ForgeError } from "@forge/protocol/common";
import { type Event, EventSchema } from "@forge/protocol/event";
import type { ToolSpec } from "@forge/protocol/tool";
import type { Context, Decider } from "../decider.ts";
import { stampDraft } from "../recorder.ts";
import type { OutstandingTask, WorkTask } from "../task.ts";
import { TEST_START_MS, testContext } from "./context.ts";

/** What one command did; without checkpoints, which only mark where a turn stands. The stream's own events hold them. */
export interface Effect<Result> {
  readonly events: readonly Event[];
  /** Payload cases of the events, in order. */
  readonly cases: readonly string[];
  readonly result: Result | undefined;
  readonly rejection: ForgeError | undefined;
}

export interface TestStreamOptions {
  readonly streamId?: string;
  /** What live workers serve; may be changed between commands. */
  readonly tools?: readonly ToolSpec[];
  /** Capabilities beside tools that live workers serve. */
  readonly capabilities?: readonly string[];
  readonly artifacts?: Readonly<Record<string, string>>;
  /** What happened before, for a stream that is taken up again after a crash. */
  readonly history?: readonly Event[];
}

/**
 * A stream in memory that treats a decider as the engine does: decide, give each event its envelope and seq, fold it as it is read back from its bytes.
 */
export class TestStream<State, Command, Result> {
  readonly decider: Decider<State, Command, Result>;
  readonly events: Event[] = [];
  state: State;
  nowMs = TEST_START_MS;
  /** The seq of the newest event, deltas included. */
  seq = 0;
  tools: readonly ToolSpec[];
  readonly #options: TestStreamOptions;
  readonly #ids = { next: 1 };
  #commandCount = 0;

  constructor(decider: Decider<State, Command, Result>, options: TestStreamOptions = {}) {
    this.decider = decider;
    this.state = decider.initial();
    this.tools = options.tools ?? [];
    this.#options = options;
    for (const event of options.history ?? []) {
      this.state = decider.evolve(this.state, event);
      this.events.push(event);
      this.seq = Number(event.seq);
    }
    // Fresh ids differ from those that the history was written with, at most a thousand for each event.
    this.#ids.next += this.seq * 1_000;
  }

  /** The context that the next command is decided in. */
  context(principal = "cli"): Context {
    const { streamId, artifacts, capabilities } = this.#options;
    const commandId = `command-${this.#commandCount}`;
    return testContext({ streamId, artifacts, capabilities, principal, commandId, nowMs: this.nowMs, seq: this.seq, tools: this.tools, ids: this.#ids });
  }

  execute(command: Command, principal?: string): Effect<Result> {
    this.#commandCount += 1;
    const context = this.context(principal);
    const decision = this.decider.decide(this.state, command, context);
    if ("rejection" in decision) return { events: [], cases: [], result: undefined, rejection: decision.rejection };
    if (decision.events.length === 0) throw new Error("An accepted command must append at least one event.");
    const events = decision.events.map((draft, index) => {
      const event = stampDraft(this.decider.kind, draft, context, this.seq + index + 1);
      return fromBinary(EventSchema, toBinary(EventSchema, { ...event, eventId: context.newId() }));
    });
    for (const event of events) this.state = this.decider.evolve(this.state, event);
    this.seq += events.length;
    this.events.push(...events);
    const told = events.filter((event) => event.payload.case !== "turnCheckpointed");
    return { events: told, cases: told.map((event) => String(event.payload.case)), result: decision.result, rejection: undefined };
  }

  /** Pieces of output were appended: the seq moved, the state did not. */
  skipDeltas(count: number): void {
    this.seq += count;
  }

  /** Executes what must be accepted. */
  must(command: Command, principal?: string): Effect<Result> {
    const effect = this.execute(command, principal);
    if (effect.rejection !== undefined) throw new Error(`The command was refused: ${effect.rejection.reason} ${effect.rejection.message}`);
    return effect;
  }

  outstanding(): readonly OutstandingTask[] {
    return this.decider.outstanding(this.state).flat();
  }

  work(): readonly WorkTask[] {
    return this.outstanding().filter((task) => task.kind === "work");
  }

  /** The keys of the timers that are set. */
  timers(): readonly string[] {
    return this.outstanding().flatMap((task) => (task.kind === "timer" ? task.key : []));
  }
}
