import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Api, type Call, checkText, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import {
  ContinueScheduleResponseSchema,
  DeleteScheduleResponseSchema,
  GetScheduleResponseSchema,
  ListSchedulesResponseSchema,
  ListScheduleTimesResponseSchema,
  PauseScheduleResponseSchema,
  type PutScheduleRequest,
  PutScheduleResponseSchema,
  type Schedule,
  type ScheduleService,
  type ScheduleSpec,
  ScheduleSpecSchema,
  type StartRunRequest,
  StartRunRequestSchema,
  TriggerScheduleResponseSchema,
} from "@forge/protocol/workflow";
import type { Store, StoredSchedule } from "../ports/index.ts";
import { checkRun } from "../schedules/check-run.ts";
import type { ScheduleRuns } from "../schedules/schedule-runs.ts";
import { checkTiming, timingOf } from "../schedules/schedule-spec.ts";
import { skipped } from "../schedules/schedules.ts";
import { artifactsIn } from "../stream/artifacts-of.ts";
import { requestDigest } from "../stream/digest.ts";
import { deriveId } from "../stream/identity.ts";
import { checkHeader, checkNoNul, checkPageSize } from "./check.ts";
import { pastTime, scheduleMessage, scheduleSummary } from "./schedule-messages.ts";
import { parseTimeToken, timeToken } from "./time-token.ts";

export interface ScheduleServicePorts {
  readonly store: Store;
  readonly runs: ScheduleRuns;
  /** A schedule was put or continued: its times may come sooner than anybody looks. */
  readonly onChanged: () => void;
}

const SCHEDULE_ID = /^[A-Za-z0-9.\-_:@]{1,64}$/;
const NOTE_LENGTH_MAX = 1_024;
const UPCOMING_MAX = 100;
/** Somebody else changes the same schedule at the same moment; more often than this it is no coincidence. */
const ATTEMPTS_MAX = 10;

export function createScheduleService({ store, runs, onChanged }: ScheduleServicePorts): Api<typeof ScheduleService> {
  async function find(call: Call, scheduleId: string): Promise<StoredSchedule> {
    const found = await store.findSchedule(call.namespace, checkId(scheduleId));
    if (found === undefined) throw notFound(scheduleId);
    return found;
  }

  async function whole(call: Call, stored: StoredSchedule): Promise<Schedule> {
    const run = await store.findScheduleRun(call.namespace, stored.scheduleId);
    if (run === undefined) throw notFound(stored.scheduleId);
    return scheduleMessage(stored, fromBinary(StartRunRequestSchema, run), Date.now());
  }

  async function pause(call: Call, scheduleId: string, change: { readonly paused: boolean; readonly note: string | undefined }): Promise<StoredSchedule> {
    const changed = await store.pauseSchedule(call.namespace, checkId(scheduleId), {
      ...change,
      note: checkNote(change.note),
      updatedBy: call.principal,
      error: skipped("SCHEDULE_PAUSED"),
    });
    if (changed === undefined) throw notFound(scheduleId);
    if (!change.paused) onChanged();
    return changed;
  }

  /** Undefined where somebody else was quicker. */
  async function put(call: Call, request: PutScheduleRequest, wanted: Wanted): Promise<StoredSchedule | undefined> {
    const { namespace } = call;
    const { scheduleId } = request;
    const found = await store.findSchedule(namespace, scheduleId);
    const run = found === undefined ? undefined : await store.findScheduleRun(namespace, scheduleId);
    const isSame = found !== undefined && run !== undefined && sameSpec(found.spec, wanted.spec) && sameRun(run, wanted.run);
    const note = request.note ?? found?.note ?? "";
    const paused = request.paused ?? found?.paused ?? false;
    if (isSame && found.note === note && found.paused === paused) return found;
    checkRevision(request, found);
    const definition = wanted.run.definition;
    const saved = isSame
      ? found
      : await store.saveSchedule(namespace, {
          scheduleId,
          spec: toBinary(ScheduleSpecSchema, wanted.spec),
          run: toBinary(StartRunRequestSchema, wanted.run),
          workflowId: definition?.id ?? "",
          workflowVersion: definition?.version ?? "",
          paused,
          note,
          updatedBy: call.principal,
          begins: found === undefined || !sameTimes(found.spec, wanted.spec),
          expectedVersion: found?.version ?? 0,
          artifacts: artifactsIn(StartRunRequestSchema, wanted.run),
          referenceId: referenceId(namespace, scheduleId),
        });
    return saved !== undefined && (saved.paused !== paused || saved.note !== note) ? await pause(call, scheduleId, { paused, note }) : saved;
  }

  return {
    async putSchedule(request, call) {
      checkText(request);
      const scheduleId = checkId(request.scheduleId);
      if (request.spec === undefined) throw ForgeError.validation("spec", "spec is missing");
      checkNote(request.note);
      const spec = checkTiming(request.spec, Date.now());
      const run = await checkRun({ store, namespace: call.namespace, scheduleId, run: request.spec.run });
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const kept = await put(call, request, { spec, run });
        if (kept === undefined) continue;
        onChanged();
        return create(PutScheduleResponseSchema, { schedule: await whole(call, kept) });
      }
      throw changed(scheduleId, "it is being changed over and over by somebody else");
    },
    async getSchedule(request, call) {
      return create(GetScheduleResponseSchema, { schedule: await whole(call, await find(call, request.scheduleId)) });
    },
    async listSchedules(request, call) {
      const limit = checkPageSize(request.pageSize);
      const afterId = request.pageToken === "" ? undefined : checkId(request.pageToken, "page_token");
      const rows = await store.listSchedules(call.namespace, { limit, ...(afterId === undefined ? {} : { afterId }) });
      const nowMs = Date.now();
      return create(ListSchedulesResponseSchema, {
        schedules: rows.map((row) => scheduleSummary(row, nowMs)),
        nextPageToken: rows.length === limit ? (rows.at(-1)?.scheduleId ?? "") : "",
      });
    },
    async pauseSchedule(request, call) {
      checkText(request);
      const stored = await pause(call, request.scheduleId, { paused: true, note: request.note });
      return create(PauseScheduleResponseSchema, { schedule: await whole(call, stored) });
    },
    async continueSchedule(request, call) {
      checkText(request);
      const stored = await pause(call, request.scheduleId, { paused: false, note: request.note });
      return create(ContinueScheduleResponseSchema, { schedule: await whole(call, stored) });
    },
    async deleteSchedule(request, call) {
      const scheduleId = checkId(request.scheduleId);
      if (await store.removeSchedule(call.namespace, scheduleId, referenceId(call.namespace, scheduleId))) return create(DeleteScheduleResponseSchema);
      throw notFound(scheduleId);
    },
    async triggerSchedule(request, call) {
      const { commandId } = checkHeader(request.header);
      const scheduleId = checkId(request.scheduleId);
      const runId = await runs.trigger(call.namespace, scheduleId, commandId);
      if (runId === undefined) throw notFound(scheduleId);
      return create(TriggerScheduleResponseSchema, { runId });
    },
    async listScheduleTimes(request, call) {
      const limit = checkPageSize(request.pageSize);
      if (request.upcoming > UPCOMING_MAX) throw ForgeError.validation("upcoming", `upcoming ${request.upcoming} is too large: at most ${UPCOMING_MAX}`);
      const before = parseTimeToken(request.pageToken);
      const stored = await find(call, request.scheduleId);
      const past = await store.listTimes(call.namespace, stored.scheduleId, { limit, ...(before === undefined ? {} : { before }) });
      const last = past.at(-1);
      return create(ListScheduleTimesResponseSchema, {
        upcoming: upcoming(stored, request.upcoming).map(timestampFromMs),
        past: past.map(pastTime),
        nextPageToken: past.length === limit && last !== undefined ? timeToken(last) : "",
      });
    },
  };
}

/** What a put asks for, checked. */
interface Wanted {
  readonly spec: ScheduleSpec;
  readonly run: StartRunRequest;
}

function checkId(scheduleId: string, field = "schedule_id"): string {
  if (!SCHEDULE_ID.test(scheduleId)) throw ForgeError.validation(field, `${field} must be 1 to 64 of letters, digits and .-_:@`);
  return scheduleId;
}

function checkNote(note: string | undefined): string | undefined {
  if (note !== undefined) checkNoNul(note, "note", NOTE_LENGTH_MAX);
  return note;
}

function checkRevision({ scheduleId, expectedRevision }: PutScheduleRequest, found: StoredSchedule | undefined): void {
  if (expectedRevision === undefined || expectedRevision === BigInt(found?.revision ?? 0)) return;
  throw changed(scheduleId, found === undefined ? "it does not exist" : `it is at revision ${found.revision}, not ${expectedRevision}`);
}

function changed(scheduleId: string, why: string): ForgeError {
  return new ForgeError(ErrorCode.CONFLICT, `schedule ${scheduleId} was not put: ${why}; read it again`, {
    reason: "SCHEDULE_CHANGED",
    relatedIds: [scheduleId],
  });
}

function notFound(scheduleId: string): ForgeError {
  return new ForgeError(ErrorCode.NOT_FOUND, `schedule ${scheduleId} does not exist`, { reason: "SCHEDULE_NOT_FOUND", relatedIds: [scheduleId] });
}

/** What keeps a schedule's artifacts from being swept. */
function referenceId(namespace: string, scheduleId: string): string {
  return deriveId(namespace, "schedule", scheduleId);
}

function sameSpec(kept: Uint8Array, wanted: ScheduleSpec): boolean {
  return Buffer.compare(kept, toBinary(ScheduleSpecSchema, wanted)) === 0;
}

/** Whether two specs name the same times, so that what has been taken stays taken and what is due stays due. */
function sameTimes(kept: Uint8Array, wanted: ScheduleSpec): boolean {
  const timesOf = ({ cron, timeZone, startAt, endAt }: ScheduleSpec): Uint8Array =>
    toBinary(ScheduleSpecSchema, create(ScheduleSpecSchema, { cron, timeZone, startAt, endAt }));
  return Buffer.compare(timesOf(fromBinary(ScheduleSpecSchema, kept)), timesOf(wanted)) === 0;
}

function sameRun(kept: Uint8Array, wanted: StartRunRequest): boolean {
  const digestOf = (run: StartRunRequest): Uint8Array => requestDigest(StartRunRequestSchema, run);
  return Buffer.compare(digestOf(fromBinary(StartRunRequestSchema, kept)), digestOf(wanted)) === 0;
}

function upcoming(stored: StoredSchedule, count: number): readonly number[] {
  const times: number[] = [];
  if (stored.paused) return times;
  const { calendar } = timingOf(stored.spec);
  let next = calendar.next(Math.max(stored.takenThroughMs, Date.now()));
  while (next !== undefined && times.length < count) {
    times.push(next);
    next = calendar.next(next);
  }
  return times;
}
