import type { Settlement, Task, TaskStart } from "@forge/protocol/worker";

/** Work that must be done in the world because of a stream's state. Equal keys are the same task. */
export interface WorkTask {
  readonly kind: "work";
  /** Unique within the stream, at most 200 visible ASCII characters; a new attempt has a new key. */
  readonly key: string;
  readonly queue: string;
  /** What a worker must be able to do: "model:<provider/model>", "tool:<name>", "function:<name>", "hook:<name>" or "workspace:undo". */
  readonly capability: string;
  readonly task: Task;
  /** True where a lost lease may be dispatched again, even after the start. */
  readonly idempotent: boolean;
  /** Not dispatched before, in milliseconds since the epoch; 0: at once. */
  readonly dueAtMs: number;
  /** 0 to 9: among tasks that wait for a worker, one of higher priority goes first. Absent: 0. */
  readonly priority?: number;
  /** Wanted no longer, but it may be running: it stays until its worker says that it has stopped. */
  readonly cancelRequested: boolean;
}

/** Fires once at its time, as a `TimerFired` command to the stream. */
export interface TimerTask {
  readonly kind: "timer";
  readonly key: string;
  readonly dueAtMs: number;
}

export type OutstandingTask = WorkTask | TimerTask;

/**
 * All tasks that there must be, in parts: a part that is the same object as one of an earlier state holds the same tasks, so that whoever compares two states looks only
 * into the others.
 */
export type Outstanding = readonly (readonly OutstandingTask[])[];

/** A worker is about to do the task. */
export interface TaskStarted {
  readonly $typeName: "task.started";
  readonly key: string;
  readonly worker: string;
  readonly epoch: number;
  readonly start: TaskStart["kind"];
}

/** A worker, or the control plane for a task that nobody holds, settles the task. */
export interface TaskSettled {
  readonly $typeName: "task.settled";
  readonly key: string;
  readonly worker: string;
  readonly outcome: Settlement["outcome"];
}

/** The lease of a started task was lost (or that of an unstarted one too often): nobody can say what happened. */
export interface TaskLost {
  readonly $typeName: "task.lost";
  readonly key: string;
  readonly epoch: number;
}

/** A settlement came after the task's end. */
export interface TaskReportedLate {
  readonly $typeName: "task.reported_late";
  readonly key: string;
  readonly worker: string;
  readonly outcome: Settlement["outcome"];
}

/** A timer's time has come. */
export interface TimerFired {
  readonly $typeName: "timer.fired";
  readonly key: string;
}

/** What the engine itself tells a stream about its tasks. */
export type TaskCommand = TaskStarted | TaskSettled | TaskLost | TaskReportedLate | TimerFired;
