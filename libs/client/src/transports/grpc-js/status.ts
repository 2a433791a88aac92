import { Code, ConnectError } from "@connectrpc/connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import type { ServiceError } from "@grpc/grpc-js";
import { toHeaders } from "./metadata.ts";

/** A failure of this library as Connect's error, with the details that came in the trailers; their numbers of codes are the same. */
export function toConnectError(error: unknown): ConnectError {
  if (!isServiceError(error)) return ConnectError.from(error);
  const trailer = toHeaders(error.metadata);
  try {
    const withDetails = findTrailerError(trailer);
    if (withDetails !== undefined) return withDetails;
  } catch {
    // Details that can't be read are left out: code and message tell enough.
  }
  const code = error.code in Code ? (error.code as number as Code) : Code.Unknown;
  const status = new ConnectError(error.details, code, trailer, undefined, error);
  // Only a server says that an argument is invalid; this library finds other words for answers that it can't read.
  status.isWireError = code === Code.InvalidArgument;
  return status;
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && typeof error.code === "number" && "details" in error;
}
