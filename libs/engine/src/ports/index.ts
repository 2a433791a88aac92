export type { AppendOutcome, BornLease, LeaseProof, NewTask, StreamAppend } from "./append.ts";
export type { ArchivedStream, ArchiveStore, EndedRun, EndedRunsPage } from "./archive-store.ts";
export type { DefinitionStore, StoredDefinition } from "./definition-store.ts";
export type { EventFormatsInUse, ReplicaStore } from "./replica-store.ts";
export type { RevisionStore, StoredRevision } from "./revision-store.ts";
export type {
  DueSchedule,
  ScheduleStep,
  ScheduleStore,
  ScheduleToSave,
  StartingTime,
  StoredSchedule,
  StoredTime,
  TakenTime,
  TimeKey,
} from "./schedule-store.ts";
export type {
  EventPage,
  GrantedPrincipal,
  KindedListing,
  ListedStream,
  ListFilter,
  LoadedStream,
  PendingApprovalRow,
  Store,
  StoredCommand,
  StoredPrincipal,
  Wakeup,
} from "./store.ts";
export type { StoredEvent } from "./stored-event.ts";
export type { Heartbeat, HeartbeatAnswer, StoredTask, StoredWorker, TaskId, TaskStore } from "./task-store.ts";
