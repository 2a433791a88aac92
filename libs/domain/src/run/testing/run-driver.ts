import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { RunStatus } from "@forge/protocol/workflow";
import { allExecutions } from "../executions.ts";
import { deadlineTimerKey, retryTimerKey, stepTaskKey, waitTimerKey } from "../keys.ts";
import type { RunCommand } from "../run-command.ts";
import { type Execution, isActive, stepAt } from "../state.ts";
import {
  answer,
  artifact,
  cancelRun,
  continueRun,
  fired,
  json,
  lost,
  pauseRun,
  RUN_ID,
  type RunStream,
  rejected,
  reportedLate,
  resumeRun,
  returned,
  returnedValue,
  runReport,
  signalRun,
  started,
  taskCancelled,
  taskFailed,
  toolReturned,
  turnReport,
} from "./run-fixture.ts";

/** What the world may do to a run at any moment; which of it is refused is for the run to say. */
export const HAPPENINGS = [
  "succeed",
  "succeed",
  "succeed",
  "succeed",
  "succeed with an artifact",
  "fail",
  "fail as unknown",
  "give up",
  "start",
  "start",
  "lose",
  "fire",
  "fire early",
  "report late",
  "refuse the opening",
  "refuse the turn",
  "refuse the cancel",
  "stop the work elsewhere",
  "break the contract",
  "settle a stale key",
  "say no",
  "signal",
  "pause",
  "continue",
  "resume",
  "pass the deadline",
  "repeat",
  "cancel",
] as const;

export type Happening = (typeof HAPPENINGS)[number];

/** The hash of an artifact whose JSON is {"v": 1}. */
export const STORED = "stored";

/** The signal that waits of driven definitions are for. */
export const SIGNAL = "go";

/** The command that a happening is now, to the execution that `pick` chooses, if it is possible at all: what nobody could send is not tried. */
export function commandFor(run: RunStream, happening: Happening, value: number, pick: number, previous: RunCommand | undefined): RunCommand | undefined {
  const leaves = leavesOf(run);
  const current = leaves[pick % Math.max(1, leaves.length)];
  const key = current === undefined || !isTask(run, current) ? undefined : stepTaskKey(current);
  switch (happening) {
    case "succeed":
      return current && success(run, current, value);
    case "succeed with an artifact":
      if (current?.childRunId) return runReport(current.childRunId, { output: artifact(STORED) });
      return key !== undefined && current?.call === undefined ? returnedValue(key, artifact(STORED)) : current && success(run, current, value);
    case "fail":
      if (key !== undefined) return taskFailed(key);
      if (current?.childRunId) return runReport(current.childRunId, { status: RunStatus.FAILED });
      return current?.sessionId ? turnReport(current.sessionId, { status: TurnStatus.FAILED, outcome: TurnOutcome.TASK_FAILED }) : undefined;
    case "fail as unknown":
      return key === undefined ? undefined : taskFailed(key, "Nobody knows.", { unknown: true });
    case "give up":
      return key === undefined ? undefined : taskCancelled(key);
    case "start":
      return key === undefined ? undefined : started(key);
    case "lose":
      return key === undefined ? undefined : lost(key);
    case "fire":
    case "fire early": {
      const timers = run.timers().filter((timer) => !timer.startsWith("deadline"));
      const timer = timers[pick % Math.max(1, timers.length)];
      if (timer !== undefined && happening === "fire") run.nowMs += 10_000;
      return timer === undefined ? undefined : fired(timer);
    }
    case "report late":
      return reportedLate(run.state.endedCalls[0]?.key ?? "step:0:1");
    case "refuse the opening":
    case "refuse the turn":
    case "refuse the cancel": {
      if (current === undefined || (current.sessionId === "" && current.childRunId === "")) return undefined;
      const what = happening === "refuse the opening" ? "create" : happening === "refuse the turn" ? "turn" : "cancel";
      return rejected(`run:${RUN_ID}:${current.executionIndex}:${current.attempt}:${what}`);
    }
    case "stop the work elsewhere":
      if (current?.childRunId) return runReport(current.childRunId, { status: RunStatus.CANCELLED });
      return current?.sessionId ? turnReport(current.sessionId, { status: TurnStatus.CANCELLED, outcome: TurnOutcome.CANCELLED }) : undefined;
    case "break the contract":
      return key !== undefined && current?.call === undefined ? returned(key, [value]) : undefined;
    case "settle a stale key":
      return returned(`step:${Math.max(0, run.state.executionCount - 2)}:1`, value);
    case "say no":
      return current?.wait?.approvalId ? answer(current.wait.approvalId, Decision.DENY) : undefined;
    case "signal":
      return signalRun(SIGNAL, { v: value });
    case "pause":
      return pauseRun();
    case "continue":
      return continueRun();
    case "resume":
      return resumeRun();
    case "pass the deadline":
      return fired(deadlineTimerKey(run.state.deadlineFromMs));
    case "repeat":
      return previous;
    case "cancel":
      return cancelRun();
  }
}

/** What is under way and no list. */
function leavesOf(run: RunStream): readonly Execution[] {
  return allExecutions(run.state.executions).filter(({ group }) => group === undefined);
}

function isTask(run: RunStream, { position }: Execution): boolean {
  const { kind } = stepAt(run.state, position);
  return kind.case === "function" || kind.case === "tool";
}

/** What ends an execution well, or takes it nearer to that. */
function success(run: RunStream, execution: Execution, value: number): RunCommand {
  const { wait, sessionId, childRunId, position, call } = execution;
  const { kind, outputs } = stepAt(run.state, position);
  if (wait !== undefined) {
    if (wait.approvalId !== "") return answer(wait.approvalId);
    return wait.signal === "" ? fired(waitTimerKey(execution)) : signalRun(wait.signal, { v: value });
  }
  if (sessionId !== "") return turnReport(sessionId, { text: json(outputs.length > 0 ? JSON.stringify({ v: value }) : "text") });
  if (childRunId !== "") return runReport(childRunId, { output: json({ v: value }) });
  if (kind.case === "agent" || kind.case === "workflow") return fired(retryTimerKey(execution));
  const key = stepTaskKey(execution);
  // What is not idempotent has no result before its go-ahead.
  const mustStart = run.work().find((task) => task.key === key)?.task.needsStart === true && !execution.started;
  if (mustStart) return execution.stopSeq > 0 ? taskCancelled(key) : started(key);
  return call === undefined ? returned(key, { v: value }) : toolReturned(key, { v: value });
}

/** Lets everything succeed until the run has ended; after so many steps somebody cancels it. Throws where nothing could happen any more. */
export function driveToEnd(run: RunStream, value: number, stepsMax = 40): void {
  for (let step = 0; isActive(run.state); step++) {
    // What was under way when it was cancelled reports once; nothing begins after that.
    if (step > stepsMax + 2 * run.state.executionCount + 5) throw new Error("The run does not end.");
    run.nowMs += 10_000;
    if (step === stepsMax) {
      run.must(cancelRun());
      continue;
    }
    const [execution] = leavesOf(run);
    if (execution !== undefined) run.must(success(run, execution, value));
    else if (run.state.paused) run.must(continueRun());
    else throw new Error("Nothing is left that could end the run.");
  }
}
