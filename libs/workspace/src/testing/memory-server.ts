import { createHash } from "node:crypto";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import type { ForgeClient } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { GetArtifactResponseSchema, PutArtifactRequestSchema, PutArtifactResponseSchema } from "@forge/protocol/artifact";
import { ErrorCode } from "@forge/protocol/common";
import {
  CreateRevisionRequestSchema,
  CreateRevisionResponseSchema,
  checkManifest,
  compareUtf8,
  GetRevisionResponseSchema,
  type Manifest,
  ManifestSchema,
} from "@forge/protocol/workspace";

const hashOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** Artifacts and revisions in memory, as the server keeps them: for tests of the directory's side alone. */
export class MemoryServer {
  readonly artifacts = new Map<string, Uint8Array>();
  readonly revisions = new Map<string, { readonly manifest: Manifest; readonly label: string; readonly parentId: string }>();
  /** Hashes, in the order in which they were put. */
  readonly puts: string[] = [];
  creates = 0;
  /** Called before each call is answered. */
  onCall: (name: "put" | "get" | "create") => void | Promise<void> = () => undefined;

  readonly client = {
    artifact: {
      putArtifact: async (init: MessageInitShape<typeof PutArtifactRequestSchema>) => {
        await this.onCall("put");
        const { content, mediaType } = create(PutArtifactRequestSchema, init);
        const sha256 = hashOf(content);
        this.artifacts.set(sha256, Uint8Array.from(content));
        this.puts.push(sha256);
        return create(PutArtifactResponseSchema, { artifact: { sha256, size: BigInt(content.length), mediaType } });
      },
      getArtifact: (request: { sha256: string; offset?: bigint }) => this.#get(request),
    },
    workspace: {
      createRevision: async (init: MessageInitShape<typeof CreateRevisionRequestSchema>) => {
        await this.onCall("create");
        this.creates++;
        const { manifest: inline, manifestArtifact, label, parentId } = create(CreateRevisionRequestSchema, init);
        const manifest = inline ?? fromBinary(ManifestSchema, this.artifacts.get(manifestArtifact?.sha256 ?? "") as Uint8Array);
        checkManifest(manifest);
        const hashes = [...new Set(manifest.entries.map(({ sha256 }) => sha256).filter(Boolean))];
        const missing = hashes.filter((sha256) => !this.artifacts.has(sha256));
        if (missing.length > 0) {
          const metadata = { missing_count: String(missing.length) };
          throw new ForgeError(ErrorCode.CONFLICT, "missing", { reason: "ARTIFACT_MISSING", relatedIds: missing.slice(0, 64), metadata });
        }
        const revisionId = hashOf(toBinary(ManifestSchema, manifest));
        if (!this.revisions.has(revisionId)) this.revisions.set(revisionId, { manifest, label, parentId });
        return create(CreateRevisionResponseSchema, { revision: { revisionId, label: this.revisions.get(revisionId)?.label ?? "" } });
      },
      getRevision: async ({ revisionId = "", afterPath = "" }) => {
        const kept = this.revisions.get(revisionId);
        if (kept === undefined) throw new ForgeError(ErrorCode.NOT_FOUND, `there is no revision ${revisionId}`);
        const rest = kept.manifest.entries.filter(({ path }) => afterPath === "" || compareUtf8(path, afterPath) > 0);
        const entries = rest.slice(0, 3);
        return create(GetRevisionResponseSchema, { revision: { revisionId }, entries, nextAfterPath: rest.length > 3 ? (entries[2]?.path ?? "") : "" });
      },
    },
  } as unknown as Pick<ForgeClient, "artifact" | "workspace">;

  async *#get({ sha256, offset = 0n }: { sha256: string; offset?: bigint }) {
    await this.onCall("get");
    const content = this.artifacts.get(sha256);
    if (content === undefined) throw new ForgeError(ErrorCode.NOT_FOUND, `artifact ${sha256} does not exist`);
    yield create(GetArtifactResponseSchema, { artifact: { sha256, size: BigInt(content.length) }, content: content.subarray(Number(offset)) });
  }
}
