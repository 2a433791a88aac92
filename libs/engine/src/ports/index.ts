export type { AppendOutcome, BornLease, LeaseProof, NewTask, StreamAppend } from "./append.ts";
export type {
  EventPage,
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
