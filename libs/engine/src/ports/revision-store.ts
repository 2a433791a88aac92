/** A kept revision of a workspace, without its manifest: that is the artifact whose hash is the revision's id. */
export interface StoredRevision {
  readonly revisionId: string;
  /** Empty: none. */
  readonly parentId: string;
  readonly label: string;
  readonly entryCount: number;
  /** Of all files, bytes. */
  readonly size: number;
  readonly createdAtMs: number;
}

/** Revisions of workspaces, and the artifacts that they keep from being swept. */
export interface RevisionStore {
  /** Those artifacts that are there, with their sizes in bytes. Renews their age, so that no sweep takes them before a reference is kept. */
  renewArtifacts(namespace: string, sha256s: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Keeps a revision with its references to artifacts, in one commit. Idempotent by its id: one that is there already stays as it is, and is the answer. */
  saveRevision(namespace: string, revision: Omit<StoredRevision, "createdAtMs">, artifacts: readonly string[]): Promise<StoredRevision>;
  findRevision(namespace: string, revisionId: string): Promise<StoredRevision | undefined>;
  /** Newest first by (createdAtMs, revisionId); `before` is the last of the page before. At most `limit` (1 to 500). */
  listRevisions(
    namespace: string,
    page: { readonly limit: number; readonly label?: string; readonly before?: Pick<StoredRevision, "createdAtMs" | "revisionId"> },
  ): Promise<readonly StoredRevision[]>;
}
