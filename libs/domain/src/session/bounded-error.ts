import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError, ForgeErrorSchema } from "@forge/protocol/common";
import { shorten } from "../text.ts";

const MESSAGE_MAX = 4_096;
const REASON_MAX = 128;
const ENTRIES_MAX = 32;
const ENTRY_MAX = 1_024;

/** A worker's error within the bounds that every error has; one that says nothing is called internal. */
export function boundedError(error: ForgeError | undefined): ForgeError {
  if (error === undefined) {
    return create(ForgeErrorSchema, {
      code: ErrorCode.INTERNAL,
      reason: "ERROR_MISSING",
      message: "The worker reported a failure without an error.",
      origin: "worker",
    });
  }
  const metadata = Object.entries(error.metadata).slice(0, ENTRIES_MAX);
  return create(ForgeErrorSchema, {
    code: error.code,
    reason: bounded(error.reason, REASON_MAX),
    message: bounded(error.message, MESSAGE_MAX),
    retryable: error.retryable,
    origin: bounded(error.origin, REASON_MAX) || "worker",
    relatedIds: error.relatedIds.slice(0, ENTRIES_MAX).map((id) => bounded(id, REASON_MAX)),
    metadata: Object.fromEntries(metadata.map(([key, value]) => [bounded(key, REASON_MAX), bounded(value, ENTRY_MAX)])),
    retryAfter: error.retryAfter,
  });
}

function bounded(text: string, max: number): string {
  return shorten(text.toWellFormed(), max);
}
