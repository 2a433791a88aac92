import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Event, EventSchema } from "@forge/protocol/event";
import { HookAt, Role, TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { RiskLevel, ToolMode } from "@forge/protocol/tool";
import { UndoResultSchema } from "@forge/protocol/worker";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldConversation } from "../conversation/fold-conversation.ts";
import type { TaskSettled, WorkTask } from "../task.ts";
import { childEnd, HOOK_CAPABILITIES } from "../testing/random-loop.ts";
import { commandOf, type Happening, happenings, served, sessionInit } from "../testing/random-session.ts";
import {
  answer,
  cancelled,
  edited,
  fired,
  lost,
  newSession,
  preview,
  SESSION_ID,
  type SessionInit,
  type SessionStream,
  settled,
  started,
  startTurn,
  summarised,
  textPart,
  toolResult,
} from "../testing/session-fixture.ts";
import { TestStream } from "../testing/test-stream.ts";
import { conversationFaults } from "../testing/well-formed.ts";
import { sessionDecider } from "./session-decider.ts";
import { activeTurn, turnStatus } from "./state.ts";
import { sessionView } from "./view.ts";

const CALL_ENDS = new Set(["toolCompleted", "toolFailed", "toolDenied", "toolCancelled", "toolSettledUnknown"]);
const MODEL_ENDS = new Set(["modelCompleted", "modelFailed", "modelCancelled"]);
/** Of a call whose turn may have ended. */
const LATE = new Set(["toolReportedLate", "workspaceChangeRecorded"]);
/** Nothing of the call runs from here on, until it is given out again. */
const PARKED = new Set(["turnInputRequested", "toolRetried"]);
const TURN_ENDS = new Set(["turnCompleted", "turnFailed", "turnCancelled", "turnAbandoned"]);

/** Lets it all happen, and looks at the stream after each. */
function play(init: SessionInit, story: readonly Happening[], look: (stream: SessionStream) => void = () => undefined): SessionStream {
  const stream = newSession(init, served, HOOK_CAPABILITIES);
  const seen: string[] = [];
  for (const what of story) {
    if (what.kind === "deltas") stream.skipDeltas(what.count);
    stream.nowMs += 1_000;
    const command = commandOf(stream, what, seen);
    const before = stream.state;
    const open = new Set(stream.outstanding().map(({ key }) => key));
    const effect = command === undefined ? undefined : stream.execute(command);
    if (effect?.rejection !== undefined) expect(stream.state).toBe(before);
    if (what.kind === "stale" && effect !== undefined) expect(effect.rejection?.reason).toBe("TASK_NOT_OPEN");
    for (const { key } of stream.outstanding()) if (!open.has(key)) seen.push(key);
    look(stream);
  }
  return stream;
}

const property = (check: (stream: SessionStream) => void, numRuns = 200) =>
  fc.assert(
    fc.property(sessionInit, happenings, (init, story) => check(play(init, story))),
    { numRuns },
  );

/** How often each id ended, by the kinds of events that end it. */
function ends(events: readonly Event[], kinds: ReadonlySet<string>, idOf: (event: Event) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const event of events) if (kinds.has(String(event.payload.case))) counts.set(idOf(event), (counts.get(idOf(event)) ?? 0) + 1);
  return counts;
}

const idsOf = (events: readonly Event[], kind: Event["payload"]["case"], idOf: (event: Event) => string) =>
  new Set(events.filter((event) => event.payload.case === kind).map(idOf));

/** What is to be done for the turn; not a summary that somebody asked for before it. */
const workOfTurn = (stream: SessionStream) =>
  stream.work().filter(({ key, task }) => task.kind.case !== "undo" && (!key.startsWith("compact:") || stream.state.turn?.compaction?.isOwn === true));

/** Whether sub-agents are at work, in sessions of their own. */
const hasChildren = (stream: SessionStream) => activeTurn(stream.state)?.toolCalls.some(({ isChild, started }) => isChild && started) === true;

const EFFECTS = new Set(["tools.write", "tools.shell", "tools.patch", "tools.run"]);

describe("whatever happens to a session", () => {
  it("its seq grows by one with each event, but for deltas between", () => {
    fc.assert(
      fc.property(sessionInit, happenings, (init, story) => {
        const withoutDeltas = story.filter((what) => what.kind !== "deltas");
        const { events } = play(init, withoutDeltas);
        expect(events.map((event) => Number(event.seq))).toEqual(events.map((_, index) => index + 1));
      }),
    );
  });

  it("at most one turn is active, and every turn ends once", () => {
    property(({ events, state }) => {
      let active = "";
      for (const event of events) {
        if (event.payload.case === "turnStarted") {
          expect(active).toBe("");
          active = event.turnId;
        } else if (TURN_ENDS.has(String(event.payload.case))) {
          expect(event.turnId).toBe(active);
          active = "";
        } else if (event.turnId !== "" && !LATE.has(String(event.payload.case))) expect(event.turnId).toBe(active);
      }
      expect(activeTurn(state)?.turnId ?? "").toBe(active);
    });
  });

  it("every call ends once, after it was requested and before its turn's end", () => {
    property(({ events, state }) => {
      const requestedTools = idsOf(events, "toolRequested", (event) => event.toolCallId);
      const endedTools = ends(events, CALL_ENDS, (event) => event.toolCallId);
      const requestedModels = idsOf(events, "modelRequested", (event) => event.modelCallId);
      const endedModels = ends(events, MODEL_ENDS, (event) => event.modelCallId);
      for (const count of [...endedTools.values(), ...endedModels.values()]) expect(count).toBe(1);
      const turn = activeTurn(state);
      const open = new Set([...(turn?.toolCalls.map((call) => call.toolCallId) ?? []), turn?.modelCall?.modelCallId].filter((id) => id !== undefined));
      expect(new Set([...endedTools.keys(), ...endedModels.keys(), ...open])).toEqual(new Set([...requestedTools, ...requestedModels]));
      expect(endedTools.size + endedModels.size + open.size).toBe(requestedTools.size + requestedModels.size);
    });
  });

  it("a call that may have an effect starts at most once, and never while another call runs", () => {
    property(({ events }) => {
      const starts = ends(events, new Set(["toolStarted"]), (event) => event.toolCallId);
      // A call that asked a person goes on with the answer, and one that was stale has done nothing: neither had ended before.
      const answers = ends(events, new Set(["turnInputProvided", "toolRetried"]), (event) => event.toolCallId);
      const names = new Map(events.flatMap((event) => (event.payload.case === "toolRequested" ? [[event.toolCallId, event.payload.value.tool] as const] : [])));
      // Of these tools only this one is idempotent, and may be started again after its worker was lost.
      expect([...starts].filter(([id, count]) => count > 1 + (answers.get(id) ?? 0) && names.get(id) !== "tools.read")).toEqual([]);
      const readsOnly = new Set(
        events.flatMap(({ payload, toolCallId }) => (payload.case === "toolPreviewed" && payload.value.preview?.risk === RiskLevel.READ ? toolCallId : [])),
      );
      let running = new Set<string>();
      for (const event of events) {
        if (event.payload.case === "turnStarted") running = new Set();
        if (CALL_ENDS.has(String(event.payload.case)) || PARKED.has(String(event.payload.case))) running.delete(event.toolCallId);
        if (event.payload.case !== "toolStarted") continue;
        running.add(event.toolCallId);
        const hasEffects = [...running].some((id) => EFFECTS.has(names.get(id) ?? "") && !readsOnly.has(id));
        expect(running.size === 1 || !hasEffects).toBe(true);
      }
    });
  });

  it("nothing is dispatched that was not granted", () => {
    const granted = (stream: SessionStream) => {
      for (const { task } of stream.work()) {
        if (task.kind.case !== "tool" || task.kind.value.preview) continue;
        expect(task.kind.value.decision?.decision).toBe(1);
        expect(task.kind.value.decision?.argumentsDigest).toBe(stream.context().sha256(task.kind.value.argumentsJson));
      }
      for (const event of stream.events) {
        if (event.payload.case !== "toolStarted") continue;
        const said = stream.events.flatMap(({ payload, toolCallId }) =>
          toolCallId === event.toolCallId && (payload.case === "toolRequested" || payload.case === "toolPreviewed" || payload.case === "approvalResolved")
            ? (payload.value.decision?.decision ?? 0)
            : [],
        );
        expect(said).toContain(1);
      }
    };
    fc.assert(
      fc.property(sessionInit, happenings, (init, story) => granted(play(init, story, granted))),
      { numRuns: 50 },
    );
  });

  it("in plan mode nothing is dispatched that does more than read", () => {
    fc.assert(
      fc.property(sessionInit, happenings, (init, story) => {
        let before: ReadonlySet<string> = new Set();
        let wasPlan = false;
        play(init, story, (stream) => {
          const work = stream.work().filter(({ task }) => task.kind.case === "tool" && !task.kind.value.preview);
          const isPlan = stream.state.policy?.mode === ToolMode.PLAN;
          for (const { key, task } of work) {
            if (!isPlan || !wasPlan || before.has(key) || task.kind.case !== "tool") continue;
            const { tool, previewed } = task.kind.value;
            expect(!EFFECTS.has(tool) || previewed?.risk === RiskLevel.READ).toBe(true);
          }
          wasPlan = isPlan;
          before = new Set(work.map(({ key }) => key));
        });
      }),
      { numRuns: 200 },
    );
  });

  it("what is outstanding is unique, belongs to what is open, and is nothing once the turn has ended", () => {
    const look = (stream: SessionStream) => {
      const keys = stream.outstanding().map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
      for (const key of keys) expect(key).toMatch(/^[!-~]{1,200}$/);
      const turn = activeTurn(stream.state);
      const open = [
        turn?.modelCall?.modelCallId,
        ...(turn?.toolCalls.flatMap((call) => [call.toolCallId, call.approval?.approvalId, call.input?.inputId]) ?? []),
        turn?.turnId,
        stream.state.undo?.undoId,
        turn?.hooks.call?.hookCallId,
        stream.state.compacting?.compactionId,
      ];
      for (const key of keys) expect(open).toContain(key.split(":")[1]);
      expect(workOfTurn(stream).every((task) => task.cancelRequested === (turn?.cancel !== undefined))).toBe(true);
      // Whoever waits, waits for something: an active turn always has a task or a timer that can move it.
      const isActive = turn !== undefined || stream.state.undo !== undefined || stream.state.compacting !== undefined;
      expect(keys.length > 0 || hasChildren(stream)).toBe(isActive);
      expect(keys.filter((key) => key.startsWith("advance:"))).toEqual([]);
    };
    fc.assert(
      fc.property(sessionInit, happenings, (init, story) => {
        play(init, story, look);
      }),
      { numRuns: 200 },
    );
  });

  it("folding its events from their bytes gives its state, and a snapshot of it is as good", () => {
    property(({ events, state, seq }) => {
      let folded = sessionDecider.initial();
      for (const event of events) folded = sessionDecider.evolve(folded, fromBinary(EventSchema, toBinary(EventSchema, event)));
      expect(folded).toEqual(state);
      expect(structuredClone(state)).toEqual(state);
      expect(sessionView(structuredClone(state), seq)).toEqual(sessionView(state, seq));
      expect(sessionDecider.listing(folded)).toEqual(sessionDecider.listing(state));
    });
  });

  it("a command that comes twice has one effect", () => {
    fc.assert(
      fc.property(sessionInit, happenings, (init, story) => {
        const stream = newSession(init, served, HOOK_CAPABILITIES);
        const seen: string[] = [];
        for (const what of story) {
          const command = commandOf(stream, what, seen);
          if (command === undefined) continue;
          seen.push(...stream.outstanding().map(({ key }) => key));
          stream.execute(command);
          const before = stream.outstanding();
          const again = stream.execute(command);
          // What may be said twice is put on record twice; everything else is refused. Neither changes what is to be done.
          const [said = ""] = again.cases;
          if (again.rejection === undefined)
            expect(["turnCancelRequested", "turnSteered", "sessionPolicyUpdated", "sessionCompacted", "sessionRewound"]).toContain(said);
          expect(again.cases.length).toBeLessThan(2);
          expect(stream.outstanding()).toEqual(before);
        }
      }),
    );
  });

  it("its conversation is one that providers accept, at every seq", () => {
    property(({ events }) => {
      for (let to = 0; to <= events.length; to += 1) expect(conversationFaults(foldConversation(events.slice(0, to)))).toEqual([]);
    }, 60);
  });

  it("a call reads what was said since the call before it, and that is what a whole read gives", () => {
    property(({ events }) => {
      const upTo = (seq: bigint) => events.filter((event) => event.seq <= seq);
      let before: Event | undefined;
      for (const event of events) {
        if (event.payload.case !== "modelRequested") continue;
        const through = event.payload.value.conversationThroughSeq;
        const whole = foldConversation(upTo(through), { turnId: event.turnId });
        expect(whole.some(({ role }) => role === Role.USER)).toBe(true);
        const from = before?.payload.case === "modelRequested" ? before.payload.value.conversationThroughSeq : 0n;
        const since = upTo(through).filter(({ seq }) => seq > from);
        // A compaction makes the reader begin anew.
        if (before !== undefined && !since.some(({ payload }) => payload.case === "sessionCompacted" || payload.case === "sessionRewound")) {
          const { turnId } = event;
          expect([...foldConversation(upTo(from), { turnId }), ...foldConversation(since, { turnId })]).toEqual(whole);
        }
        before = event;
      }
    }, 100);
  });

  it("no model reads what a person said before it has passed every hook", () => {
    property(({ events, state }) => {
      const hooks = (state.agent?.hooks ?? []).flatMap(({ at }, index) => (at.includes(HookAt.USER_MESSAGE) ? index : []));
      let said: bigint[] = [];
      const passed = new Set<string>();
      const unchecked: string[] = [];
      for (const { payload, seq } of events) {
        if (payload.case === "turnStarted") said = [];
        else if (payload.case === "turnSteered" || (payload.case === "messageAdded" && payload.value.message?.ephemeral === false)) said.push(seq);
        else if (payload.case === "hookCompleted") passed.add(`${payload.value.aboutSeq} ${payload.value.index}`);
        else if (payload.case === "modelRequested") {
          const needed = said.flatMap((about) => hooks.map((index) => `${about} ${index}`));
          unchecked.push(...needed.filter((call) => !passed.has(call)));
        }
      }
      expect(unchecked).toEqual([]);
    });
  });

  it("every hook and every summary that is asked for ends once, or is still waited for, or is no longer wanted", () => {
    property(({ events, state }) => {
      const ended = new Map<string, number>();
      const asked = new Set<string>();
      for (const { payload } of events) {
        if (payload.case === "hookRequested") asked.add(payload.value.hookCallId);
        else if (payload.case === "hookCompleted" || payload.case === "hookFailed")
          ended.set(payload.value.hookCallId, (ended.get(payload.value.hookCallId) ?? 0) + 1);
        else if (payload.case === "sessionCompacted" || payload.case === "sessionCompactionFailed") {
          const { compactionId } = payload.value;
          if (compactionId !== "") ended.set(compactionId, (ended.get(compactionId) ?? 0) + 1);
        }
      }
      for (const count of ended.values()) expect(count).toBe(1);
      const open = activeTurn(state)?.hooks.call?.hookCallId;
      for (const id of asked) expect(ended.has(id)).toBe(id !== open);
    });
  });

  it("a turn that is paused is given nothing more to do, and is called paused once nothing runs", () => {
    const dispatched = (stream: SessionStream) => new Set(workOfTurn(stream).map(({ key }) => key));
    fc.assert(
      fc.property(sessionInit, happenings, (init, story) => {
        let before: ReadonlySet<string> = new Set();
        let wasPaused = false;
        play(init, story, (stream) => {
          const now = dispatched(stream);
          const turn = activeTurn(stream.state);
          if (wasPaused && turn?.paused === true) expect([...now].filter((key) => !before.has(key))).toEqual([]);
          if (turn?.paused === true) expect(turnStatus(turn) === TurnStatus.PAUSED).toBe(now.size === 0 && !hasChildren(stream));
          wasPaused = turn?.paused === true;
          before = now;
        });
      }),
    );
  });

  it("what a person says while the turn goes on is read by a model call before the turn completes as done", () => {
    property(({ events }) => {
      let unread = false;
      const completedUnread: bigint[] = [];
      for (const { payload, seq } of events) {
        if (payload.case === "turnSteered") unread = true;
        else if (payload.case === "modelRequested") unread = false;
        else if (payload.case === "turnCompleted" && payload.value.outcome === TurnOutcome.TASK_COMPLETED && unread) completedUnread.push(seq);
        else if (TURN_ENDS.has(String(payload.case))) unread = false;
      }
      expect(completedUnread).toEqual([]);
    });
  });

  it("a fork at every seq begins with a conversation that providers accept, and works like any session", () => {
    property(({ events, state }) => {
      for (let to = 1; to <= events.length; to += 1) {
        const messages = foldConversation(events.slice(0, to), { fork: true });
        expect(conversationFaults(messages)).toEqual([]);
        if (to % 7 !== 0) continue;
        const fork: SessionStream = new TestStream(sessionDecider, { streamId: "00000000-0000-8000-8000-0000000000f0", tools: served });
        const { agent, policy, queue, title, labels } = state;
        fork.must({ $typeName: "session.fork_from", sourceSessionId: SESSION_ID, throughSeq: to, agent, policy, queue, title, labels, messages });
        const copied = foldConversation(fork.events);
        expect(copied.map(({ role, parts }) => ({ role, parts }))).toEqual(messages.map(({ role, parts }) => ({ role, parts })));
        fork.must(startTurn());
        cooperate(fork);
        expect(activeTurn(fork.state)).toBeUndefined();
        expect(conversationFaults(foldConversation(fork.events))).toEqual([]);
      }
    }, 40);
  });

  it("every prefix of its history can be driven to an end, by workers and without any", () => {
    property(({ events }) => {
      for (let to = 1; to <= events.length; to += 1) {
        for (const drive of [cooperate, loseAll]) {
          const resumed: SessionStream = new TestStream(sessionDecider, {
            streamId: SESSION_ID,
            tools: served,
            capabilities: HOOK_CAPABILITIES,
            history: events.slice(0, to),
          });
          drive(resumed);
          expect(activeTurn(resumed.state)).toBeUndefined();
          expect(resumed.outstanding()).toEqual([]);
        }
      }
    }, 25);
  });
});

/** More than the calls that any of these sessions may make, and their attempts. */
const STEPS_MAX = 200;

/** Workers do what is to be done; what nobody does, the deadline ends. */
function cooperate(stream: SessionStream): void {
  for (let step = 0; step < STEPS_MAX && (stream.outstanding().length > 0 || hasChildren(stream)); step += 1) {
    const [task] = stream.work();
    if (task === undefined) stream.must(childEnd(stream, 0) ?? fired(stream.timers().at(-1) ?? ""));
    else {
      stream.execute(started(task));
      if (task.cancelRequested) stream.must(settled(task, cancelled()));
      else stream.must(settled(task, done(task)));
    }
  }
}

function done({ task }: WorkTask): TaskSettled["outcome"] {
  if (task.kind.case === "model") return answer([textPart("Done.")]);
  if (task.kind.case === "hook") return edited([]);
  if (task.kind.case === "compaction") return summarised();
  if (task.kind.case === "undo") return { case: "undo", value: create(UndoResultSchema, { changeIds: task.kind.value.changeIds }) };
  return task.kind.case === "tool" && task.kind.value.preview ? preview() : toolResult();
}

/** Every worker is lost. */
function loseAll(stream: SessionStream): void {
  for (let step = 0; step < STEPS_MAX && (stream.outstanding().length > 0 || hasChildren(stream)); step += 1) {
    const [task] = stream.work();
    if (task === undefined) stream.must(childEnd(stream, 3) ?? fired(stream.timers().at(-1) ?? ""));
    else {
      stream.execute(started(task));
      stream.must(lost(task));
    }
  }
}
