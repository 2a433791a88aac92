import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Api, type Call, ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { type StartRunRequest, StartRunRequestSchema, type WorkflowService } from "@forge/protocol/workflow";
import type { Store } from "../ports/index.ts";
import { deriveId, sha256Hex } from "../stream/identity.ts";
import { isPassing } from "../tasks/passing.ts";

/** The label by which a schedule's runs are found. */
export const SCHEDULE_LABEL = "schedule_id";

/** A start that fails for reasons that say nothing about it is tried again for so long. */
const GIVE_UP_MS = 600_000;

export interface StartPorts {
  readonly store: Pick<Store, "heads" | "findScheduleRun" | "finishTime" | "recordTrigger" | "listed">;
  readonly workflow: Pick<Api<typeof WorkflowService>, "startRun" | "cancelRun">;
}

/** What starts and cancels runs for a schedule, in its name. */
export class ScheduleRuns {
  readonly #store: StartPorts["store"];
  readonly #workflow: StartPorts["workflow"];

  constructor({ store, workflow }: StartPorts) {
    this.#store = store;
    this.#workflow = workflow;
  }

  /**
   * Starts the run of a time that was recorded as taken, and records what came of it. Its id derives from the schedule and the time: however often and by whomever it is called, it
   * is one run. Rejects where the start said nothing about the run; it is to be called again then.
   */
  async startTime(time: { readonly namespace: string; readonly scheduleId: string; readonly atMs: number; readonly ageMs: number }): Promise<void> {
    const { namespace, scheduleId, atMs, ageMs } = time;
    const key = { atMs, commandId: "" };
    try {
      const runId = await this.#start(namespace, scheduleId, `schedule:${scheduleId}:${new Date(atMs).toISOString()}`);
      // Its schedule was deleted meanwhile.
      if (runId === undefined) throw new ForgeError(ErrorCode.NOT_FOUND, `schedule ${scheduleId} does not exist any more`, { reason: "SCHEDULE_NOT_FOUND" });
      await this.#store.finishTime(namespace, scheduleId, { ...key, outcome: "STARTED", runId });
    } catch (error) {
      if (isPassing(error) && ageMs < GIVE_UP_MS) throw error;
      await this.#store.finishTime(namespace, scheduleId, { ...key, outcome: "FAILED", error: encodeError(error) });
    }
  }

  /** Starts a run by hand; its id derives from the schedule and the command. Undefined: there is no such schedule. */
  async trigger(namespace: string, scheduleId: string, commandId: string): Promise<string | undefined> {
    const runId = await this.#start(namespace, scheduleId, `schedule-trigger:${sha256Hex(`${scheduleId}\0${commandId}`)}`);
    if (runId !== undefined) await this.#store.recordTrigger(namespace, scheduleId, { commandId, runId });
    return runId;
  }

  /** Whether a run has not ended. One that is not known any more has. */
  async isActive(namespace: string, runId: string): Promise<boolean> {
    const [row] = await this.#store.listed(namespace, [runId]);
    return row !== undefined && !ENDED.has(row.status);
  }

  /** Asks a run to stop for the time that waits for it. Idempotent. */
  async cancel(options: { readonly namespace: string; readonly scheduleId: string; readonly runId: string; readonly atMs: number }): Promise<void> {
    const { namespace, scheduleId, runId, atMs } = options;
    const header = headerOf(`schedule-cancel:${sha256Hex(`${scheduleId}\0${atMs}`)}`);
    try {
      await this.#workflow.cancelRun({ $typeName: "forge.workflow.v1.CancelRunRequest", header, runId }, callOf(namespace, scheduleId));
    } catch (error) {
      // It has ended meanwhile, or somebody else is cancelling it: either is what was asked for.
      if (!(error instanceof ForgeError) || (error.code !== ErrorCode.CONFLICT && error.code !== ErrorCode.NOT_FOUND)) throw error;
    }
  }

  async #start(namespace: string, scheduleId: string, commandId: string): Promise<string | undefined> {
    const runId = deriveId(namespace, "run", commandId);
    // Another may have started it, from what the schedule was then.
    if ((await this.#store.heads([{ namespace, streamId: runId }])).length > 0) return runId;
    const bytes = await this.#store.findScheduleRun(namespace, scheduleId);
    if (bytes === undefined) return undefined;
    const template = fromBinary(StartRunRequestSchema, bytes);
    const request: StartRunRequest = { ...template, header: headerOf(commandId), labels: { ...template.labels, [SCHEDULE_LABEL]: scheduleId } };
    return (await this.#workflow.startRun(request, callOf(namespace, scheduleId))).runId;
  }
}

const ENDED: ReadonlySet<string> = new Set(["RUN_STATUS_COMPLETED", "RUN_STATUS_COMPLETED_WITH_ERRORS", "RUN_STATUS_FAILED", "RUN_STATUS_CANCELLED"]);

function headerOf(commandId: string): NonNullable<StartRunRequest["header"]> {
  return create(StartRunRequestSchema, { header: { version: { major: 1, minor: 0 }, commandId } }).header as NonNullable<StartRunRequest["header"]>;
}

/** Whoever put the schedule was allowed to start its runs. */
function callOf(namespace: string, scheduleId: string): Call {
  return { namespace, principal: `schedule:${scheduleId}`, role: "operator", signal: new AbortController().signal };
}

function encodeError(error: unknown): Uint8Array {
  if (error instanceof ForgeError) return toBinary(ForgeErrorSchema, error.detail);
  const message = error instanceof Error ? error.message : String(error);
  return toBinary(ForgeErrorSchema, create(ForgeErrorSchema, { code: ErrorCode.INTERNAL, message, origin: "control-plane" }));
}
