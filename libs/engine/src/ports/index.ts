export type { AppendOutcome, BornLease, LeaseProof, NewTask, StreamAppend } from "./append.ts";
export type { EventFormatsInUse, ReplicaStore } from "./replica-store.ts";
export type { RevisionStore, StoredRevision } from "./revision-store.ts";
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
export type { StoredTask, StoredWorker, TaskId, TaskStore } from "./task-store.ts";
