import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { checkText, ForgeError } from "@forge/protocol";
import { type CreateRevisionRequest, type Manifest, ManifestSchema } from "@forge/protocol/workspace";
import type { Store } from "../ports/index.ts";
import { artifactsMissing } from "./require-artifacts.ts";

export const MANIFEST_MEDIA_TYPE = "application/x-protobuf";
/** What is larger comes as an artifact, since a message has a bound. */
const INLINE_BYTES_MAX = 1024 * 1024;

/** The manifest that a request carries, or names. Errors: validation; conflict, ARTIFACT_MISSING. */
export async function receivedManifest(store: Store, namespace: string, request: CreateRevisionRequest): Promise<Manifest> {
  const { manifest, manifestArtifact } = request;
  if ((manifest === undefined) === (manifestArtifact === undefined))
    throw ForgeError.validation("manifest", "one of manifest and manifest_artifact must be set, and not both");
  if (manifest !== undefined) {
    const { length } = toBinary(ManifestSchema, manifest);
    if (length > INLINE_BYTES_MAX)
      throw ForgeError.validation(
        "manifest",
        `manifest has ${length} bytes encoded: above ${INLINE_BYTES_MAX}, put it as an artifact and name it in manifest_artifact`,
      );
    return manifest;
  }
  const { sha256 = "", mediaType = "" } = manifestArtifact ?? {};
  if (mediaType !== MANIFEST_MEDIA_TYPE)
    throw ForgeError.validation("manifest_artifact.media_type", `manifest_artifact.media_type must be ${MANIFEST_MEDIA_TYPE}`);
  const stored = await store.getArtifact(namespace, sha256);
  if (stored === undefined) throw artifactsMissing([sha256]);
  const decoded = decode(stored.content, sha256);
  checkText(decoded, "manifest");
  return decoded;
}

function decode(content: Uint8Array, sha256: string): Manifest {
  try {
    return fromBinary(ManifestSchema, content);
  } catch (error) {
    throw ForgeError.validation("manifest_artifact", `artifact ${sha256} is no encoded Manifest: ${(error as Error).message}`, { cause: error });
  }
}
