/** Event formats of the control planes that share a store. */
export interface EventFormatsInUse {
  /** The newest that may have been written. */
  readonly written: number;
  /** The newest that every live control plane reads. */
  readonly readByAll: number;
  /** The live control planes. */
  readonly replicas: readonly string[];
}

/** Control planes of different versions beside each other. Times are the database's clock. */
export interface ReplicaStore {
  /** Says that a control plane lives and what it reads, for so long. */
  keepReplica(replica: { id: string; reads: number; ttlMs: number }): Promise<EventFormatsInUse>;
  eventFormats(): Promise<EventFormatsInUse>;
  /** Announces that a format may be written from now on. The answer is as of after the announcement: a control plane that joins later knows of it. */
  announceFormat(format: number): Promise<EventFormatsInUse>;
  dropReplica(id: string): Promise<void>;
}
