import type { RejectCommand, ReportTurnEnd } from "@forge/protocol/engine";
import type { CancelRunRequest, CancelRunResponse, StartRunRequest, StartRunResponse } from "@forge/protocol/workflow";
import type { TaskCommand } from "../task.ts";

/** Everything that can be asked of a run, told apart by `$typeName`. */
export type RunCommand = StartRunRequest | CancelRunRequest | ReportTurnEnd | RejectCommand | TaskCommand;

/** What a caller is answered; undefined for the engine's own commands. */
export type RunResult = StartRunResponse | CancelRunResponse | undefined;
