import type { Context, Decision, Rejected } from "../decider.ts";
import { taskLost, taskReportedLate, taskSettled, taskStarted } from "./attempt.ts";
import { cancelRun } from "./cancel-run.ts";
import { type RunRecorder, runRecorder } from "./recorder.ts";
import type { RunCommand, RunResult } from "./run-command.ts";
import { startRun } from "./start-run.ts";
import type { RunState } from "./state.ts";
import { commandRejected, timerFired, turnEnded } from "./turn-end.ts";

/** Decides a command to quiescence: either something was recorded, or it is refused. */
export function decide(state: RunState, command: RunCommand, context: Context): Decision<RunResult> {
  const run = runRecorder(state, context);
  const result = handle(run, command);
  return result !== undefined && "rejection" in result ? result : { events: run.events, result };
}

function handle(run: RunRecorder, command: RunCommand): RunResult | Rejected {
  switch (command.$typeName) {
    case "forge.workflow.v1.StartRunRequest":
      return startRun(run, command);
    case "forge.workflow.v1.CancelRunRequest":
      return cancelRun(run);
    case "forge.engine.v1.ReportTurnEnd":
      return turnEnded(run, command);
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
