import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { type GetArtifactResponse, GetArtifactResponseSchema } from "@forge/protocol/artifact";
import { ErrorCode } from "@forge/protocol/common";
import {
  DrainResponseSchema,
  HeartbeatResponseSchema,
  type LeasedTask,
  LeasedTaskSchema,
  LeaseTasksResponseSchema,
  type OutputDelta,
  RegisterResponseSchema,
  ReportOutputResponseSchema,
  type Settlement,
  SettleTasksResponseSchema,
  StartTasksResponseSchema,
  type TaskAnswer,
  TaskAnswerSchema,
  type TaskSchema,
  type TaskStart,
} from "@forge/protocol/worker";
import type { ControlPlanePort } from "../port.ts";

interface Waiting {
  readonly slots: number;
  readonly resolve: (tasks: LeasedTask[]) => void;
  readonly reject: (error: ForgeError) => void;
}

/** A leased task of a tool; everything may be given otherwise. */
export function leasedTask(taskId: string, task: MessageInitShape<typeof TaskSchema> = {}, epoch = 1): LeasedTask {
  return create(LeasedTaskSchema, {
    taskId,
    epoch,
    leaseToken: new Uint8Array([epoch]),
    task: { kind: { case: "tool", value: { tool: "test.tool" } }, ...task },
  });
}

export function workerSessionGone(): ForgeError {
  return new ForgeError(ErrorCode.NOT_FOUND, "this session is not known: register again", { reason: "WORKER_SESSION" });
}

/**
 * The control plane as one worker sees it: sessions, tasks that it hands out up to the slots that are asked for, and what it was told. Each function may be
 * replaced while a test runs.
 */
export class FakeControlPlane {
  readonly registered: string[] = [];
  readonly slotsAsked: number[] = [];
  readonly heartbeats: string[][] = [];
  readonly starts: (readonly TaskStart[])[] = [];
  readonly settlements: (readonly Settlement[])[] = [];
  readonly reports: (readonly OutputDelta[])[] = [];
  readonly artifacts = new Map<string, Uint8Array>();
  drained = 0;
  /** What the next heartbeats answer; one that says neither ends as the next does. */
  cancel: string[] = [];
  lost: string[] = [];
  heartbeatMs = 5;

  #waiting: Waiting | undefined;
  #tasks: LeasedTask[] = [];

  /** Called before anything is answered; what it throws is the answer. */
  onCall: (method: string, sessionId: string) => Promise<void> | void = () => undefined;
  answerStart: (start: TaskStart) => TaskAnswer = (start) => create(TaskAnswerSchema, { taskId: start.lease?.taskId ?? "" });
  answerSettlement: (settlement: Settlement) => TaskAnswer = (settlement) => create(TaskAnswerSchema, { taskId: settlement.lease?.taskId ?? "" });

  get sessionId(): string {
    return `session-${this.registered.length}`;
  }

  /** Every settlement, in short: the task and the case of its outcome. */
  get settled(): readonly string[] {
    return this.settlements.flat().map(({ lease, outcome }) => `${lease?.taskId} ${outcome.case}`);
  }

  hand(...tasks: LeasedTask[]): void {
    this.#tasks.push(...tasks);
    this.#give();
  }

  /** Ends the poll that waits. */
  failPoll(error: ForgeError): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  #give(): void {
    if (this.#waiting === undefined || this.#tasks.length === 0) return;
    const { slots, resolve } = this.#waiting;
    this.#waiting = undefined;
    resolve(this.#tasks.splice(0, slots));
  }

  readonly port: ControlPlanePort = {
    worker: {
      register: async (request) => {
        await this.onCall("register", "");
        this.registered.push(request.workerName ?? "");
        return create(RegisterResponseSchema, {
          workerSessionId: this.sessionId,
          heartbeatInterval: durationFromMs(this.heartbeatMs),
          leaseTtl: durationFromMs(15_000),
        });
      },
      leaseTasks: async ({ workerSessionId = "", slots = 0 }, options) => {
        await this.onCall("leaseTasks", workerSessionId);
        this.slotsAsked.push(slots);
        const tasks = await new Promise<LeasedTask[]>((resolve, reject) => {
          options?.signal?.addEventListener("abort", () => reject(new ForgeError(ErrorCode.CANCELLED, "given up")));
          this.#waiting = { slots, resolve, reject };
          this.#give();
        });
        return create(LeaseTasksResponseSchema, { tasks });
      },
      heartbeat: async ({ workerSessionId = "", held = [] }) => {
        const names = held.map(({ taskId }) => taskId ?? "");
        this.heartbeats.push(names);
        const [cancelTaskIds, lostTaskIds] = [this.cancel, this.lost];
        [this.cancel, this.lost] = [[], []];
        await this.onCall("heartbeat", workerSessionId);
        return create(HeartbeatResponseSchema, { cancelTaskIds, lostTaskIds });
      },
      startTasks: async ({ workerSessionId = "", starts = [] }) => {
        this.starts.push(starts as TaskStart[]);
        await this.onCall("startTasks", workerSessionId);
        return create(StartTasksResponseSchema, { answers: (starts as TaskStart[]).map((start) => this.answerStart(start)) });
      },
      settleTasks: async ({ workerSessionId = "", settlements = [] }) => {
        this.settlements.push(settlements as Settlement[]);
        await this.onCall("settleTasks", workerSessionId);
        return create(SettleTasksResponseSchema, { answers: (settlements as Settlement[]).map((settlement) => this.answerSettlement(settlement)) });
      },
      reportOutput: async ({ workerSessionId = "", deltas = [] }) => {
        this.reports.push(deltas as OutputDelta[]);
        await this.onCall("reportOutput", workerSessionId);
        return create(ReportOutputResponseSchema);
      },
      drain: async ({ workerSessionId = "" }) => {
        await this.onCall("drain", workerSessionId);
        this.drained++;
        return create(DrainResponseSchema);
      },
    },
    session: {
      readConversation: () => Promise.reject(new Error("no conversation here")),
      listChanges: () => Promise.reject(new Error("no changes here")),
    },
    artifact: {
      putArtifact: () => Promise.reject(new Error("no artifacts are taken here")),
      getArtifact: ({ sha256 = "" }) => this.#pieces(sha256),
    },
  };

  /** Two pieces, as a large artifact comes. */
  async *#pieces(sha256: string): AsyncGenerator<GetArtifactResponse> {
    await this.onCall("getArtifact", "");
    const content = this.artifacts.get(sha256);
    if (content === undefined) throw new ForgeError(ErrorCode.NOT_FOUND, `artifact ${sha256} does not exist`);
    yield create(GetArtifactResponseSchema, { content: content.subarray(0, 3) });
    yield create(GetArtifactResponseSchema, { content: content.subarray(3) });
  }
}
