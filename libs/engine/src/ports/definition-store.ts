/** A workflow that is kept under its id and version, without its content. */
export interface StoredDefinition {
  readonly id: string;
  readonly version: string;
  readonly hash: string;
  readonly createdAtMs: number;
  readonly createdBy: string;
}

/** Registered workflows. A version never changes and is never removed. */
export interface DefinitionStore {
  /** Keeps a definition, encoded, with its references to artifacts under `referenceId`. One that is there already under its id and version stays as it is, and is the answer. */
  saveDefinition(
    namespace: string,
    definition: Omit<StoredDefinition, "createdAtMs">,
    content: { readonly bytes: Uint8Array; readonly artifacts: readonly string[]; readonly referenceId: string },
  ): Promise<StoredDefinition>;
  /** Without a version: the highest, by its numbers. */
  findDefinition(namespace: string, id: string, version?: string): Promise<(StoredDefinition & { readonly bytes: Uint8Array }) | undefined>;
  /** By id and version; `after` is the last of the page before. At most `limit` (1 to 500). */
  listDefinitions(
    namespace: string,
    page: { readonly limit: number; readonly id?: string; readonly after?: Pick<StoredDefinition, "id" | "version"> },
  ): Promise<readonly StoredDefinition[]>;
}
