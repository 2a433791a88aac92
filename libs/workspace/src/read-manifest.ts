import { createHash } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { type ForgeClient, withRetry } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { checkManifest, type Entry, ManifestSchema, type Revision } from "@forge/protocol/workspace";

/** Of one page; the server sends fewer where they are long. */
const PAGE_SIZE = 5_000;

export interface KnownRevision {
  readonly revision: Revision;
  /** In order of their paths. */
  readonly entries: readonly Entry[];
}

/**
 * A revision with its whole manifest, which is verified against the id and describes nothing outside of a directory, whoever sent it. Errors: validation; not_found;
 * storage_error, ARTIFACT_DAMAGED, where the manifest is another one.
 */
export async function readManifest(client: Pick<ForgeClient, "workspace">, revisionId: string, signal?: AbortSignal): Promise<KnownRevision> {
  const entries: Entry[] = [];
  for (let afterPath = ""; ; ) {
    const request = { revisionId, afterPath, pageSize: PAGE_SIZE };
    const page = await withRetry(async () => await client.workspace.getRevision(request, { signal }), { signal });
    entries.push(...page.entries);
    if (page.nextAfterPath === "" || page.entries.length === 0) {
      verify(revisionId, entries);
      return { revision: page.revision as Revision, entries };
    }
    afterPath = page.nextAfterPath;
  }
}

function verify(revisionId: string, entries: Entry[]): void {
  const manifest = create(ManifestSchema, { entries });
  const found = createHash("sha256")
    .update(toBinary(ManifestSchema, manifest, { writeUnknownFields: false }))
    .digest("hex");
  if (found !== revisionId) {
    const message = `the manifest of revision ${revisionId} does not match its id: what came hashes to ${found}`;
    throw new ForgeError(ErrorCode.STORAGE_ERROR, message, { reason: "ARTIFACT_DAMAGED", retryable: false, origin: "client", relatedIds: [revisionId] });
  }
  checkManifest(manifest);
}
