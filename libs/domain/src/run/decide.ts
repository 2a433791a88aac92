import type { Context, Decision, Rejected } from "../decider.ts";
import { advance } from "./advance.ts";
import { taskLost, taskReportedLate, taskSettled, taskStarted } from "./attempt.ts";
import { cancelRun } from "./cancel-run.ts";
import { runEnded } from "./child-end.ts";
import { keyGranted } from "./concurrency.ts";
import { forkFromRun } from "./fork-run.ts";
import { continueRun, pauseRun } from "./pause-run.ts";
import { type RunRecorder, runRecorder } from "./recorder.ts";
import { resolveRunApproval } from "./resolve-run-approval.ts";
import { resumeRun } from "./resume-run.ts";
import type { RunCommand, RunResult } from "./run-command.ts";
import { signalRun } from "./signal-run.ts";
import { startChildRun, startRun } from "./start-run.ts";
import type { RunState } from "./state.ts";
import { timerFired } from "./timers.ts";
import { commandRejected, turnEnded } from "./turn-end.ts";

/** Decides a command to quiescence: either something was recorded, or it is refused. */
export function decide(state: RunState, command: RunCommand, context: Context): Decision<RunResult> {
  const run = runRecorder(state, context);
  const result = handle(run, command);
  if (result !== undefined && "rejection" in result) return result;
  advance(run);
  return { events: run.events, result };
}

function handle(run: RunRecorder, command: RunCommand): RunResult | Rejected {
  switch (command.$typeName) {
    case "forge.workflow.v1.StartRunRequest":
      return startRun(run, command);
    case "forge.workflow.v1.CancelRunRequest":
      return cancelRun(run);
    case "forge.workflow.v1.SignalRunRequest":
      return signalRun(run, command);
    case "forge.workflow.v1.PauseRunRequest":
      return pauseRun(run);
    case "forge.workflow.v1.ContinueRunRequest":
      return continueRun(run);
    case "forge.workflow.v1.ResumeRunRequest":
      return resumeRun(run, command);
    case "forge.event.v1.ResolveApprovalRequest":
      return resolveRunApproval(run, command);
    case "forge.engine.v1.StartChildRun":
      return startChildRun(run, command);
    case "forge.engine.v1.ForkFromRun":
      return forkFromRun(run, command);
    case "forge.engine.v1.ReportRunEnd":
      return runEnded(run, command);
    case "forge.engine.v1.ReportTurnEnd":
      return turnEnded(run, command);
    case "forge.engine.v1.GrantConcurrency":
      return keyGranted(run, command);
    case "forge.engine.v1.RejectCommand":
      return commandRejected(run, command);
    case "task.started":
      return taskStarted(run, command);
    case "task.settled":
      return taskSettled(run, command);
    case "task.lost":
      return taskLost(run, command);
    case "task.reported_late":
      return taskReportedLate(run, command);
    case "timer.fired":
      return timerFired(run, command);
  }
}
