import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Api, type Call, checkText, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import {
  CreateRevisionResponseSchema,
  checkManifest,
  GetRevisionResponseSchema,
  ListRevisionsResponseSchema,
  type Manifest,
  ManifestSchema,
  type Revision,
  RevisionSchema,
  type WorkspaceService,
} from "@forge/protocol/workspace";
import type { Store, StoredRevision } from "../ports/index.ts";
import { sha256Hex } from "../stream/identity.ts";
import { checkNoNul, checkPageSize } from "./check.ts";
import { manifestPage } from "./manifest-page.ts";
import { MANIFEST_MEDIA_TYPE, receivedManifest } from "./received-manifest.ts";
import { requireArtifacts } from "./require-artifacts.ts";

const LABEL_LENGTH_MAX = 256;
const ENTRIES_MAX = 5_000;
const ENTRIES_DEFAULT = 1_000;
const HASH = /^[0-9a-f]{64}$/;

export function createWorkspaceService({ store }: { readonly store: Store }): Api<typeof WorkspaceService> {
  /** A revision that has to be there. */
  async function find(call: Call, revisionId: string, field: string): Promise<StoredRevision> {
    checkRevisionId(revisionId, field);
    const found = await store.findRevision(call.namespace, revisionId);
    if (found === undefined) {
      const message = `${field}: there is no revision ${revisionId}`;
      throw new ForgeError(ErrorCode.NOT_FOUND, message, { relatedIds: [revisionId], metadata: { field } });
    }
    return found;
  }

  return {
    async createRevision(request, call) {
      checkText(request);
      checkNoNul(request.label, "label", LABEL_LENGTH_MAX);
      const manifest = await receivedManifest(store, call.namespace, request);
      checkManifest(manifest);
      const encoded = toBinary(ManifestSchema, manifest, { writeUnknownFields: false });
      const revisionId = sha256Hex(encoded);
      // What is kept already stays as it is; asked first, because it needs no look at each file.
      const kept = await store.findRevision(call.namespace, revisionId);
      if (kept !== undefined) return create(CreateRevisionResponseSchema, { revision: toRevision(kept) });
      const { parentId, label } = request;
      if (parentId !== "") await find(call, parentId, "parent_id");
      await requireArtifacts(store, call.namespace, manifest);
      await store.putArtifact(call.namespace, revisionId, MANIFEST_MEDIA_TYPE, encoded);
      const described = { revisionId, parentId, label, entryCount: manifest.entries.length, size: sizeOf(manifest) };
      const hashes = manifest.entries.map(({ sha256 }) => sha256).filter((sha256) => sha256 !== "");
      const revision = await store.saveRevision(call.namespace, described, [revisionId, ...hashes]);
      return create(CreateRevisionResponseSchema, { revision: toRevision(revision) });
    },

    async getRevision({ revisionId, afterPath, pageSize }, call) {
      if (pageSize > ENTRIES_MAX) throw ForgeError.validation("page_size", `page_size ${pageSize} is too large: at most ${ENTRIES_MAX}`);
      const revision = await find(call, revisionId, "revision_id");
      const manifest = await store.getArtifact(call.namespace, revisionId);
      if (manifest === undefined) {
        const message = `the manifest of revision ${revisionId} is gone: the database is damaged; restore it from a backup`;
        throw new ForgeError(ErrorCode.STORAGE_ERROR, message, { reason: "ARTIFACT_DAMAGED", retryable: false, relatedIds: [revisionId] });
      }
      const { entries, nextAfterPath } = manifestPage(manifest.content, afterPath, pageSize === 0 ? ENTRIES_DEFAULT : pageSize);
      return create(GetRevisionResponseSchema, { revision: toRevision(revision), entries: [...entries], nextAfterPath });
    },

    async listRevisions({ pageSize, pageToken, label }, call) {
      const limit = checkPageSize(pageSize);
      checkText({ label });
      checkNoNul(label, "label", LABEL_LENGTH_MAX);
      const before = parsePageToken(pageToken);
      const found = await store.listRevisions(call.namespace, { limit, ...(label === "" ? {} : { label }), ...(before === undefined ? {} : { before }) });
      const last = found.length === limit ? found.at(-1) : undefined;
      return create(ListRevisionsResponseSchema, {
        revisions: found.map(toRevision),
        nextPageToken: last === undefined ? "" : pageTokenOf(last),
      });
    },
  };
}

function sizeOf({ entries }: Manifest): number {
  return entries.reduce((sum, { size }) => sum + Number(size), 0);
}

function toRevision({ createdAtMs, size, ...revision }: StoredRevision): Revision {
  return create(RevisionSchema, { ...revision, size: BigInt(size), createdAt: timestampFromMs(createdAtMs) });
}

function checkRevisionId(revisionId: string, field: string): void {
  if (!HASH.test(revisionId)) throw ForgeError.validation(field, `${field} must be 64 lower-case hexadecimal digits, as the server gave it`);
}

/** The last revision of a page, as an opaque token. */
function pageTokenOf({ createdAtMs, revisionId }: StoredRevision): string {
  return Buffer.from(`${createdAtMs} ${revisionId}`).toString("base64url");
}

function parsePageToken(token: string): Pick<StoredRevision, "createdAtMs" | "revisionId"> | undefined {
  if (token === "") return undefined;
  const [, createdAt, revisionId] = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (createdAt === undefined || revisionId === undefined)
    throw ForgeError.validation("page_token", "page_token is none that this server gave: begin again without it");
  return { createdAtMs: Number(createdAt), revisionId };
}
