import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import type { RunCommand } from "../run-command.ts";
import { isActive, stepAt } from "../state.ts";
import {
  artifact,
  cancelRun,
  json,
  lost,
  RUN_ID,
  type RunStream,
  rejected,
  reportedLate,
  returned,
  returnedValue,
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
  "refuse the session",
  "refuse the turn",
  "refuse the cancel",
  "stop the turn",
  "break the contract",
  "settle a stale key",
  "repeat",
  "cancel",
] as const;

export type Happening = (typeof HAPPENINGS)[number];

/** The hash of an artifact whose JSON is {"v": 1}. */
export const STORED = "stored";

/** The command that a happening is now, if it is possible at all: what nobody could send is not tried. */
export function commandFor(run: RunStream, happening: Happening, value: number, previous: RunCommand | undefined): RunCommand | undefined {
  const current = run.current;
  const [task] = run.work();
  const [timer] = run.timers();
  const { sessionId } = run;
  switch (happening) {
    case "succeed":
      return success(run, value);
    case "succeed with an artifact":
      return task !== undefined && current?.call === undefined ? returnedValue(task.key, artifact(STORED)) : success(run, value);
    case "fail":
      if (task !== undefined) return taskFailed(task.key);
      return sessionId === "" ? undefined : turnReport(sessionId, { status: TurnStatus.FAILED, outcome: TurnOutcome.TASK_FAILED });
    case "fail as unknown":
      return task && taskFailed(task.key, "Nobody knows.", { unknown: true });
    case "give up":
      return task && taskCancelled(task.key);
    case "start":
      return task && started(task.key);
    case "lose":
      return task && lost(task.key);
    case "fire":
    case "fire early":
      if (timer !== undefined && happening === "fire") run.nowMs += 10_000;
      return timer === undefined ? undefined : { $typeName: "timer.fired", key: timer };
    case "report late":
      return reportedLate(run.state.endedCalls[0]?.key ?? "step:0:1");
    case "refuse the session":
    case "refuse the turn":
    case "refuse the cancel": {
      if (current === undefined || sessionId === "") return undefined;
      const what = happening === "refuse the session" ? "create" : happening === "refuse the turn" ? "turn" : "cancel";
      return rejected(`run:${RUN_ID}:${current.executionIndex}:${current.attempt}:${what}`);
    }
    case "stop the turn":
      return sessionId === "" ? undefined : turnReport(sessionId, { status: TurnStatus.CANCELLED, outcome: TurnOutcome.CANCELLED });
    case "break the contract":
      return task !== undefined && current?.call === undefined ? returned(task.key, [value]) : undefined;
    case "settle a stale key":
      return returned(`step:${Math.max(0, run.state.executionCount - 2)}:1`, value);
    case "repeat":
      return previous;
    case "cancel":
      return cancelRun();
  }
}

function success(run: RunStream, value: number): RunCommand | undefined {
  const { current } = run;
  const [task] = run.work();
  const [timer] = run.timers();
  if (timer !== undefined) return { $typeName: "timer.fired", key: timer };
  // What is not idempotent has no result before its go-ahead.
  if (task?.task.needsStart === true && current?.started === false) return started(task.key);
  if (task !== undefined) return current?.call === undefined ? returned(task.key, { v: value }) : toolReturned(task.key, { v: value });
  if (run.sessionId === "" || current === undefined) return undefined;
  const declared = stepAt(run.state, current.position).outputs.length > 0;
  return turnReport(run.sessionId, { text: json(declared ? JSON.stringify({ v: value }) : "text") });
}

/** Lets everything succeed until the run has ended; after so many steps somebody cancels it. Throws where nothing could happen any more. */
export function driveToEnd(run: RunStream, value: number, stepsMax = 30): void {
  for (let step = 0; isActive(run.state); step++) {
    if (step > stepsMax + 5) throw new Error("The run does not end.");
    run.nowMs += 10_000;
    if (step === stepsMax) {
      run.must(cancelRun());
      continue;
    }
    const command = success(run, value);
    if (command === undefined) throw new Error("Nothing is left that could end the run.");
    run.must(command);
  }
}
