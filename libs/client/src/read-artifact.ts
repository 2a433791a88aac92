import { createHash, type Hash } from "node:crypto";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { ForgeClient } from "./forge-client.ts";
import { pause } from "./pause.ts";
import { isPassing } from "./retry.ts";
import { TRANSPORT } from "./status.ts";

export interface ReadArtifactOptions {
  /** Bytes to leave out at the beginning; absent: none. */
  readonly offset?: number;
  /** Bytes at most; absent: to the end. */
  readonly length?: number;
  readonly signal?: AbortSignal;
  /** How long it goes on connecting again while nothing arrives; absent: 60 s. */
  readonly patienceMs?: number;
}

/**
 * An artifact's bytes, or a range of them, in pieces of at most 256 KiB. When the connection is lost it goes on with the next byte. Where the whole is read it is verified against its hash
 * at the end: pieces are to be trusted only when all have come. Errors: not_found; validation, of the range; storage_error, ARTIFACT_DAMAGED, where the bytes
 * do not match the hash; cancelled.
 */
export async function* readArtifact(
  client: Pick<ForgeClient, "artifact">,
  sha256: string,
  { offset = 0, length, signal, patienceMs = 60_000 }: ReadArtifactOptions = {},
): AsyncGenerator<Uint8Array> {
  for (const [field, value] of Object.entries({ offset, length })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0))
      throw ForgeError.validation(field, `${field} must be a whole number of bytes, not ${value}`);
  }
  const hash = offset === 0 && length === undefined ? createHash("sha256") : undefined;
  let position = offset;
  let end: number | undefined;
  let untilMs = Date.now() + patienceMs;
  for (let attempt = 0; ; attempt++) {
    try {
      const left = end === undefined ? length : end - position;
      const request = { sha256, offset: BigInt(position), length: left === undefined ? undefined : BigInt(left) };
      for await (const { artifact, content } of client.artifact.getArtifact(request, { signal })) {
        if (artifact !== undefined) end ??= Math.min(Number(artifact.size), length === undefined ? Number.POSITIVE_INFINITY : offset + length);
        if (content.length === 0) continue;
        position += content.length;
        hash?.update(content);
        attempt = 0;
        untilMs = Date.now() + patienceMs;
        yield content;
      }
      // A stream that was cut may look like one that has ended.
      if (end === undefined || position < end) throw cut(sha256, position);
      if (position > end) throw damaged(sha256, `${position - offset} bytes came instead of ${end - offset}`);
      verify(hash, sha256);
      return;
    } catch (error) {
      if (!isPassing(error) || Date.now() > untilMs) throw error;
      // What is whole needs no other attempt.
      if (position === end) return verify(hash, sha256);
      await pause(attempt, signal);
      if (signal?.aborted === true) throw error;
    }
  }
}

function verify(hash: Hash | undefined, sha256: string): void {
  const found = hash?.digest("hex");
  if (found !== undefined && found !== sha256) throw damaged(sha256, `what came hashes to ${found}`);
}

function damaged(sha256: string, why: string): ForgeError {
  const message = `artifact ${sha256} does not match its hash: ${why}`;
  return new ForgeError(ErrorCode.STORAGE_ERROR, message, { reason: "ARTIFACT_DAMAGED", retryable: false, origin: "client", relatedIds: [sha256] });
}

function cut(sha256: string, position: number): ForgeError {
  const message = `the stream of artifact ${sha256} ended after ${position} bytes, before its end`;
  return new ForgeError(ErrorCode.STORAGE_ERROR, message, { reason: TRANSPORT, retryable: true, origin: "client" });
}
