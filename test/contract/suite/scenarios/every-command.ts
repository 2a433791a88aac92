import type { DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { commandHeader } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import { ApprovalService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { WorkflowService } from "@forge/protocol/workflow";
import { runStream, say, sessionStream } from "../../../harness/work.ts";
import type { World } from "../scenario.ts";
import { changedSession } from "../steps/changed-session.ts";
import { joinOwnQueue, OWN_MODEL } from "../steps/own-worker.ts";
import { failedRun, startedRun, waitingRun } from "../steps/runs.ts";
import { quietSession, quietTurn, spokenSession, waitingForApproval, waitingForInput } from "../steps/sessions.ts";

type Stream = ReturnType<typeof sessionStream> | ReturnType<typeof runStream>;

/** A command that may be sent now, in a stream that is ready for it. */
export interface PreparedCommand {
  /** Without its header. */
  readonly request: Readonly<Record<string, unknown>>;
  /** Another one for the same stream; absent: there is none, the request says no more than which stream it is for. */
  readonly other?: Readonly<Record<string, unknown>>;
  /** Absent: the command creates it. */
  readonly stream?: Stream;
}

/** A command of the protocol, how it comes to be sent, and what is on record of it once. */
export interface Command {
  readonly method: DescMethodUnary;
  /** The event that tells of its effect. */
  readonly kind: string;
  /** Of a command that creates a stream. */
  readonly creates?: StreamKind;
  prepare(world: World): Promise<PreparedCommand>;
}

type Body<M extends DescMethodUnary> = Omit<MessageInitShape<M["input"]>, "header" | "$typeName" | "$unknown">;

interface Given<M extends DescMethodUnary> {
  readonly request: Body<M>;
  readonly other?: Body<M>;
  readonly stream?: Stream;
}

function command<M extends DescMethodUnary>(method: M, kind: string, prepare: (world: World) => Promise<Given<M>>, creates?: StreamKind): Command {
  return { method, kind, creates, prepare };
}

const session = SessionService.method;
const workflow = WorkflowService.method;
const ELSEWHERE = "00000000-0000-7000-8000-000000000000";

/** A turn of its own, and the same turn named wrongly. */
function turnOf({ sessionId, turnId }: { readonly sessionId: string; readonly turnId: string }) {
  return { request: { sessionId, turnId }, other: { sessionId, turnId: ELSEWHERE }, stream: sessionStream(sessionId) };
}

/** Every command that a client may send. */
export const COMMANDS: readonly Command[] = [
  command(
    session.createSession,
    "session.created",
    async (world) => {
      await joinOwnQueue(world);
      const request = { agent: { model: OWN_MODEL }, queue: world.queue, title: "One" };
      return { request, other: { ...request, title: "Another" } };
    },
    StreamKind.SESSION,
  ),
  command(session.startTurn, "turn.started", async (world) => {
    const sessionId = await quietSession(world);
    return { request: { sessionId, input: [say("Hello.")] }, other: { sessionId, input: [say("Goodbye.")] }, stream: sessionStream(sessionId) };
  }),
  command(session.steerTurn, "turn.steered", async (world) => {
    const turn = await quietTurn(world);
    return { request: { ...turn, input: [say("Be quick.")] }, other: { ...turn, input: [say("Be slow.")] }, stream: sessionStream(turn.sessionId) };
  }),
  command(session.pauseTurn, "turn.paused", async (world) => turnOf(await quietTurn(world))),
  command(session.continueTurn, "turn.continued", async (world) => {
    const turn = await quietTurn(world);
    await world.reference.session.pauseTurn({ header: commandHeader(), ...turn });
    return turnOf(turn);
  }),
  command(session.cancelTurn, "turn.cancel_requested", async (world) => turnOf(await quietTurn(world))),
  command(session.abandonTurn, "turn.abandoned", async (world) => {
    const turn = await quietTurn(world);
    return { request: { ...turn, reason: "It hangs." }, other: { ...turn, reason: "It burns." }, stream: sessionStream(turn.sessionId) };
  }),
  command(session.provideInput, "turn.input_provided", async (world) => {
    const { sessionId, turnId, id } = await waitingForInput(world);
    const named = { sessionId, turnId, inputId: id };
    return { request: { ...named, text: "red" }, other: { ...named, text: "blue" }, stream: sessionStream(sessionId) };
  }),
  command(
    session.forkSession,
    "session.forked",
    async (world) => {
      const sessionId = await spokenSession(world);
      return { request: { sessionId, title: "Another way" }, other: { sessionId, title: "Yet another" } };
    },
    StreamKind.SESSION,
  ),
  command(session.updateSessionPolicy, "session.policy_updated", async (world) => {
    const sessionId = await quietSession(world);
    return {
      request: { sessionId, policy: { defaultDecision: Decision.DENY } },
      other: { sessionId, policy: { defaultDecision: Decision.ASK } },
      stream: sessionStream(sessionId),
    };
  }),
  command(session.compactSession, "session.compacted", async (world) => {
    const sessionId = await spokenSession(world);
    return { request: { sessionId, summary: "They greeted." }, other: { sessionId, summary: "They spoke." }, stream: sessionStream(sessionId) };
  }),
  command(session.undoChanges, "workspace.undo_requested", async (world) => {
    const sessionId = await changedSession(world);
    return { request: { sessionId }, other: { sessionId, changeIds: ["another"] }, stream: sessionStream(sessionId) };
  }),
  command(session.rewindSession, "session.rewound", async (world) => {
    const sessionId = await spokenSession(world);
    return { request: { sessionId, throughSeq: 1n }, other: { sessionId, throughSeq: 2n }, stream: sessionStream(sessionId) };
  }),
  command(session.closeSession, "session.closed", async (world) => {
    const sessionId = await quietSession(world);
    return { request: { sessionId }, stream: sessionStream(sessionId) };
  }),
  command(ApprovalService.method.resolveApproval, "approval.resolved", async (world) => {
    const { sessionId, id } = await waitingForApproval(world);
    const named = { stream: sessionStream(sessionId), approvalId: id };
    return { request: { ...named, decision: Decision.ALLOW }, other: { ...named, decision: Decision.DENY }, stream: sessionStream(sessionId) };
  }),
  command(
    workflow.startRun,
    "run.created",
    async (world) => {
      await joinOwnQueue(world);
      const request = waitingRun(world.queue);
      return { request: { ...request, labels: { is: "one" } }, other: { ...request, labels: { is: "another" } } };
    },
    StreamKind.RUN,
  ),
  command(workflow.cancelRun, "run.cancel_requested", async (world) => {
    const runId = await startedRun(world);
    return { request: { runId }, stream: runStream(runId) };
  }),
  command(workflow.signalRun, "run.signalled", async (world) => {
    const runId = await startedRun(world);
    const payload = (json: string) => ({ kind: { case: "json" as const, value: json } });
    return { request: { runId, name: "go", payload: payload('"now"') }, other: { runId, name: "go", payload: payload('"later"') }, stream: runStream(runId) };
  }),
  command(workflow.pauseRun, "run.paused", async (world) => {
    const runId = await startedRun(world);
    return { request: { runId }, stream: runStream(runId) };
  }),
  command(workflow.continueRun, "run.continued", async (world) => {
    const runId = await startedRun(world);
    await world.reference.workflow.pauseRun({ header: commandHeader(), runId });
    return { request: { runId }, stream: runStream(runId) };
  }),
  command(workflow.resumeRun, "run.resumed", async (world) => {
    const { runId, workflowHash } = await failedRun(world);
    return { request: { runId }, other: { runId, workflowHash }, stream: runStream(runId) };
  }),
  command(
    workflow.forkRun,
    "run.forked",
    async (world) => {
      const { runId, stepId } = await failedRun(world);
      return { request: { runId, stepId, labels: { is: "one" } }, other: { runId, stepId, labels: { is: "another" } } };
    },
    StreamKind.RUN,
  ),
];
