import { createHash } from "node:crypto";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { sql } from "kysely";
import type { Database } from "./database.ts";

/** One row and one message hold an artifact; what is larger needs another store. */
const ARTIFACT_BYTES_MAX = 16 * 1024 * 1024;

function sha256Of(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Putting what is there already only renews its age, so that no sweep takes it before its reference is appended. */
export async function putArtifact(database: Database, namespace: string, sha256: string, mediaType: string, content: Uint8Array): Promise<void> {
  if (content.length > ARTIFACT_BYTES_MAX)
    throw ForgeError.validation("content", `An artifact has at most ${ARTIFACT_BYTES_MAX} bytes, not ${content.length}.`);
  if (sha256Of(content) !== sha256) throw ForgeError.validation("sha256", `The content's SHA-256 is not ${sha256}.`);
  await database.run(
    "forge_put_artifact",
    sql`
    insert into forge.artifact (ns, sha256, media_type, content) values (${namespace}, ${sha256}, ${mediaType}, ${content}::bytea)
    on conflict (ns, sha256) do update set stored_at = now()`,
  );
}

export async function getArtifact(database: Database, namespace: string, sha256: string): Promise<{ mediaType: string; content: Uint8Array } | undefined> {
  const [artifact] = await database.run<{ mediaType: string; content: Buffer }>(
    "forge_get_artifact",
    sql`select media_type as "mediaType", content from forge.artifact where ns = ${namespace} and sha256 = ${sha256}`,
  );
  if (artifact !== undefined && sha256Of(artifact.content) !== sha256) {
    const message = `The stored bytes of artifact ${sha256} do not match its hash: the database is damaged; restore the artifact from a backup.`;
    throw new ForgeError(ErrorCode.STORAGE_ERROR, message, { reason: "ARTIFACT_DAMAGED", retryable: false, relatedIds: [sha256] });
  }
  return artifact;
}
