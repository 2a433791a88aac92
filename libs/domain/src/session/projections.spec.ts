import { create, fromBinary } from "@bufbuild/protobuf";
import { StreamKind } from "@forge/protocol/common";
import { type Event, EventSchema, FinishReason } from "@forge/protocol/event";
import { PartSchema, SessionStatus, TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { PendingApprovalSchema, RiskLevel } from "@forge/protocol/tool";
import { describe, expect, it } from "vitest";
import {
  ALLOW_ALL,
  abandonTurn,
  answerWith,
  callPart,
  cancelled,
  cancelTurn,
  failure,
  modelTask,
  newSession,
  READ,
  SESSION_ID,
  sessionInTurn,
  settled,
  started,
  textPart,
  toolTask,
  turnIdOf,
  WRITE,
} from "../testing/session-fixture.ts";
import { sessionDecider } from "./session-decider.ts";
import { initialSessionState } from "./state.ts";
import { sessionView } from "./view.ts";

const RUN_ID = "00000000-0000-8000-8000-000000000123";
const child = () => sessionInTurn({ parent: { runId: RUN_ID, stepId: "summarize" }, policy: ALLOW_ALL });
const reports = (stream: ReturnType<typeof child>, events: readonly Event[]) => events.flatMap((event) => sessionDecider.commands(stream.state, event));

describe("a session that works for a run's step", () => {
  it("reports the turn's end with the last answer's text", () => {
    const stream = child();
    const { events } = answerWith(stream, [textPart('Severity: "high"')]);
    expect(reports(stream, events)).toMatchObject([
      {
        source: { kind: StreamKind.SESSION, id: SESSION_ID },
        target: { kind: StreamKind.RUN, id: RUN_ID },
        commandId: `${SESSION_ID}:${stream.seq}:0`,
        command: {
          case: "reportTurnEnd",
          value: {
            stepId: "summarize",
            sessionId: SESSION_ID,
            turnId: turnIdOf(stream),
            status: TurnStatus.COMPLETED,
            outcome: TurnOutcome.TASK_COMPLETED,
            text: { kind: { case: "json", value: '"Severity: \\"high\\""' } },
            usage: { inputTokens: 10n },
          },
        },
      },
    ]);
  });

  it("reports a text within what one value holds", () => {
    for (const text of ["x".repeat(65_534), "\u0001".repeat(40_000), "😀".repeat(30_000)]) {
      const stream = child();
      const [command] = reports(stream, answerWith(stream, [textPart(text)]).events);
      const value = command?.command.case === "reportTurnEnd" ? command.command.value.text : undefined;
      const json = value?.kind.case === "json" ? value.kind.value : "";
      const said: string = JSON.parse(json);
      expect(new TextEncoder().encode(json).byteLength).toBeLessThanOrEqual(65_536);
      expect(said.isWellFormed()).toBe(true);
      expect(said === text || said.endsWith("the whole answer is in the session]")).toBe(true);
    }
  });

  it("reports an answer that is an artifact by reference", () => {
    const stream = child();
    const artifact = create(PartSchema, {
      kind: {
        case: "artifact",
        value: { $typeName: "forge.common.v1.ArtifactRef", sha256: "a".repeat(64), size: 70_000n, mediaType: "application/json", preview: "x" },
      },
    });
    const [command] = reports(stream, answerWith(stream, [artifact]).events);
    expect(command?.command.value).toMatchObject({ text: { kind: { case: "artifact", value: { sha256: "a".repeat(64) } } } });
  });

  it("reports a turn that failed, was cancelled or abandoned", () => {
    const failed = child();
    const failedEvents = failed.must(settled(modelTask(failed), failure())).events;
    expect(reports(failed, failedEvents)[0]?.command.value).toMatchObject({
      status: TurnStatus.FAILED,
      outcome: TurnOutcome.TASK_FAILED,
      error: { reason: "RATE_LIMIT" },
    });
    const stopped = child();
    stopped.must(cancelTurn(""));
    const stoppedEvents = stopped.must(settled(modelTask(stopped), cancelled())).events;
    expect(reports(stopped, stoppedEvents)[0]?.command.value).toMatchObject({ status: TurnStatus.CANCELLED, outcome: TurnOutcome.CANCELLED });
    const abandoned = child();
    expect(reports(abandoned, abandoned.must(abandonTurn(turnIdOf(abandoned))).events)[0]?.command.value).toMatchObject({
      status: TurnStatus.ABANDONED,
      outcome: TurnOutcome.UNKNOWN,
    });
  });

  it("says nothing else, and without a parent nothing at all", () => {
    const stream = child();
    expect(reports(stream, stream.events)).toEqual([]);
    const alone = sessionInTurn();
    expect(reports(alone, answerWith(alone, [textPart("Hi.")]).events)).toEqual([]);
    expect(alone.state.turn?.answer).toBeUndefined();
  });
});

describe("a session's row in lists", () => {
  it("shows status, model and labels", () => {
    expect(sessionDecider.listing(newSession({ title: "T", labels: { a: "b" } }).state)).toEqual({
      status: "SESSION_STATUS_ACTIVE",
      detailStatus: "",
      title: "T",
      subject: "demo/triage",
      version: "",
      labels: { a: "b" },
      approvals: [],
    });
  });

  it("shows the approvals that wait", () => {
    const stream = sessionInTurn();
    answerWith(stream, [callPart(WRITE.name, `{"text":"${"x".repeat(5_000)}"}`)]);
    const { detailStatus, approvals } = sessionDecider.listing(stream.state);
    expect(detailStatus).toBe("TURN_STATUS_WAITING_APPROVAL");
    const [approval] = approvals.map((bytes) => fromBinary(PendingApprovalSchema, bytes));
    expect(approval).toMatchObject({ stream: { id: SESSION_ID }, turnId: turnIdOf(stream), tool: WRITE.name, risk: RiskLevel.CHANGE });
    expect(approval?.argumentsPreview.length).toBe(4_096);
  });
});

describe("a session's snapshot", () => {
  it("lists what is open", () => {
    const stream = sessionInTurn({ policy: { rules: [{ tool: READ.name, decision: 1 }] } });
    answerWith(stream, [callPart(READ.name), callPart(WRITE.name)]);
    stream.must(started(toolTask(stream, READ.name)));
    const view = sessionView(stream.state, 40);
    expect(view).toMatchObject({ sessionId: SESSION_ID, seq: 40n, status: SessionStatus.ACTIVE, turnCount: 1, usage: { outputTokens: 10n } });
    expect(view.turn).toMatchObject({ turnId: turnIdOf(stream), status: TurnStatus.RUNNING, outcome: TurnOutcome.UNSPECIFIED });
    expect(view.turn?.openCalls).toMatchObject([
      { name: READ.name, started: true, approvalPending: false, cancellationPending: false },
      { name: WRITE.name, started: false, approvalPending: true },
    ]);
    stream.must(cancelTurn(turnIdOf(stream)));
    expect(sessionView(stream.state, 40).turn?.openCalls).toMatchObject([{ name: READ.name, cancellationPending: true }]);
  });

  it("shows the model call and, after its end, the last turn", () => {
    const stream = sessionInTurn();
    expect(sessionView(stream.state, 1).turn?.openCalls).toMatchObject([{ isModelCall: true, name: "demo/triage", started: false }]);
    answerWith(stream, [textPart("No.")], FinishReason.CONTENT_FILTER);
    expect(sessionView(stream.state, 1).turn).toMatchObject({
      status: TurnStatus.COMPLETED,
      outcome: TurnOutcome.REFUSED,
      openCalls: [],
      endedAt: { nanos: 0 },
    });
  });
});

describe("whose output a task writes", () => {
  it("is told by its key while it is open", () => {
    const stream = sessionInTurn();
    const { key } = modelTask(stream);
    expect(sessionDecider.deltaIds(stream.state, key)).toEqual({ turnId: turnIdOf(stream), modelCallId: stream.state.turn?.modelCall?.modelCallId });
    answerWith(stream, [callPart(READ.name)]);
    const task = toolTask(stream, READ.name);
    expect(sessionDecider.deltaIds(stream.state, task.key)).toEqual({ turnId: turnIdOf(stream), toolCallId: task.task.idempotencyKey });
    expect(sessionDecider.deltaIds(stream.state, key)).toEqual({});
  });
});

describe("folding", () => {
  it("passes over output deltas", () => {
    const { state } = sessionInTurn();
    const delta = create(EventSchema, {
      seq: 9n,
      payload: { case: "turnOutputDelta", value: { $typeName: "forge.event.v1.TurnOutputDelta", offset: 0n, epoch: 1, channel: { case: "text", value: "a" } } },
    });
    expect(sessionDecider.evolve(state, delta)).toBe(state);
  });

  it("fails on a kind that it does not know, and on a run's", () => {
    const reason = expect.objectContaining({ reason: "UNKNOWN_EVENT" });
    expect(() => sessionDecider.evolve(initialSessionState(), create(EventSchema))).toThrow(reason);
    const ofRun = create(EventSchema, { payload: { case: "runStarted", value: { $typeName: "forge.event.v1.RunStarted" } } });
    expect(() => sessionDecider.evolve(initialSessionState(), ofRun)).toThrow(reason);
  });
});
