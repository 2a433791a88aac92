import { create } from "@bufbuild/protobuf";
import { type Api, ForgeError } from "@forge/protocol";
import { type ArtifactService, type GetArtifactRequest, GetArtifactResponseSchema, PutArtifactResponseSchema } from "@forge/protocol/artifact";
import { ErrorCode } from "@forge/protocol/common";
import type { Store } from "../ports/index.ts";
import { sha256Hex } from "../stream/identity.ts";
import { checkWorkerLease } from "./check-worker-lease.ts";

const ARTIFACT_MAX = 16 * 1024 * 1024;
const PIECE = 256 * 1024;
const PREVIEW_MAX = 256;
const HASH = /^[0-9a-f]{64}$/;

/** The first characters of a text, for people; empty for anything else. */
function preview(mediaType: string, content: Uint8Array): string {
  if (!mediaType.startsWith("text/") && mediaType !== "application/json") return "";
  return new TextDecoder()
    .decode(content.subarray(0, PREVIEW_MAX * 4))
    .slice(0, PREVIEW_MAX)
    .toWellFormed()
    .replaceAll("\0", "\uFFFD");
}

/** The bytes that are asked for, of so many; a length beyond the end is cut. */
function rangeOf({ offset, length }: GetArtifactRequest, size: number): { readonly start: number; readonly end: number } {
  if (offset > BigInt(size)) throw ForgeError.validation("offset", `offset ${offset} is beyond the artifact's end: it has ${size} bytes`);
  if (length === 0n) throw ForgeError.validation("length", "length must not be 0: leave it out to read to the end");
  const start = Number(offset);
  return { start, end: length === undefined || length > BigInt(size - start) ? size : start + Number(length) };
}

export function createArtifactService({ store }: { readonly store: Store }): Api<typeof ArtifactService> {
  return {
    async putArtifact(request, call) {
      const { content, mediaType } = request;
      if (content.length > ARTIFACT_MAX) throw ForgeError.validation("content", `content has ${content.length} bytes: at most ${ARTIFACT_MAX}`);
      if (!/^[\x21-\x7e]{1,128}$/.test(mediaType))
        throw ForgeError.validation("media_type", "media_type must be 1 to 128 visible ASCII characters, for example text/plain");
      const sha256 = sha256Hex(content);
      if (request.sha256 !== "" && request.sha256 !== sha256)
        throw ForgeError.validation("sha256", `content hashes to ${sha256}, not to ${request.sha256}: it was changed on its way`);
      await checkWorkerLease(store, call, request.lease, { kind: "putArtifact" });
      await store.putArtifact(call.namespace, sha256, mediaType, content);
      return create(PutArtifactResponseSchema, { artifact: { sha256, size: BigInt(content.length), mediaType, preview: preview(mediaType, content) } });
    },
    async *getArtifact(request, call) {
      if (!HASH.test(request.sha256)) throw ForgeError.validation("sha256", "sha256 must be 64 lower-case hexadecimal digits");
      await checkWorkerLease(store, call, request.lease, { kind: "getArtifact", sha256: request.sha256 });
      const stored = await store.getArtifact(call.namespace, request.sha256);
      if (stored === undefined) throw new ForgeError(ErrorCode.NOT_FOUND, `artifact ${request.sha256} does not exist`, { relatedIds: [request.sha256] });
      const { content, mediaType } = stored;
      const artifact = { sha256: request.sha256, size: BigInt(content.length), mediaType, preview: preview(mediaType, content) };
      const { start, end } = rangeOf(request, content.length);
      for (let offset = start; offset === start || offset < end; offset += PIECE) {
        const piece = content.subarray(offset, Math.min(offset + PIECE, end));
        yield create(GetArtifactResponseSchema, { artifact: offset === start ? artifact : undefined, content: piece });
      }
    },
  };
}
