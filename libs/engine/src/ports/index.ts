export type { AppendOutcome, BornLease, LeaseProof, NewTask, StreamAppend } from "./append.ts";
export type {
  EventPage,
  ListedStream,
  ListFilter,
  LoadedStream,
  PendingApprovalRow,
  Store,
  StoredCommand,
  StoredEvent,
  StoredPrincipal,
  Wakeup,
} from "./store.ts";
export type { StoredTask, StoredWorker, TaskId, TaskStore } from "./task-store.ts";
