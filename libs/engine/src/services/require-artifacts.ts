import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Manifest } from "@forge/protocol/workspace";
import type { Store } from "../ports/index.ts";

/** An error travels in the trailers of an answer, for which some clients have no more than 8 KiB. */
const LISTED_MAX = 64;
/** Asked for in one statement. */
const ASKED_MAX = 10_000;

/** Whether each file's content is there, with the size that the manifest says. Errors: validation, of a size; conflict, ARTIFACT_MISSING, with the first hashes in order of the paths. */
export async function requireArtifacts(store: Store, namespace: string, { entries }: Manifest): Promise<void> {
  const hashes = [...new Set(entries.map(({ sha256 }) => sha256).filter((sha256) => sha256 !== ""))];
  const sizes = new Map<string, number>();
  for (let index = 0; index < hashes.length; index += ASKED_MAX) {
    for (const [sha256, size] of await store.renewArtifacts(namespace, hashes.slice(index, index + ASKED_MAX))) sizes.set(sha256, size);
  }
  const missing = hashes.filter((sha256) => !sizes.has(sha256));
  if (missing.length > 0) throw artifactsMissing(missing);
  for (const [index, { sha256, size }] of entries.entries()) {
    const stored = sizes.get(sha256);
    if (stored === undefined || BigInt(stored) === size) continue;
    throw ForgeError.validation(`manifest.entries[${index}].size`, `artifact ${sha256} has ${stored} bytes, not ${size}`);
  }
}

/** The metadata's `missing_count` is of all of them, also of those that are not listed. */
export function artifactsMissing(missing: readonly string[]): ForgeError {
  const message = `${missing.length} artifacts are not stored here: put them, the first of them being ${missing[0]}, and then create the revision again`;
  const relatedIds = missing.slice(0, LISTED_MAX);
  return new ForgeError(ErrorCode.CONFLICT, message, { reason: "ARTIFACT_MISSING", relatedIds, metadata: { missing_count: String(missing.length) } });
}
