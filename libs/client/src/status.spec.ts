import { Code, ConnectError } from "@connectrpc/connect";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { isPassing } from "./retry.ts";
import { fromStatus } from "./status.ts";

describe("a status", () => {
  const codes = Object.values(ErrorCode).filter((code) => typeof code === "number");

  it.each(codes)("that carries an error is that error, whatever else it says: code %i", (code) => {
    const error = new ForgeError(code, "what happened", {
      reason: "SOME_REASON",
      retryable: true,
      origin: "control-plane",
      relatedIds: ["one"],
      metadata: { field: "title" },
    });
    const status = new ConnectError("something else", Code.Unknown, undefined, [{ desc: ForgeErrorSchema, value: error.detail }]);
    expect(fromStatus(status, false)).toEqual(error);
    expect(fromStatus(status, true)).toEqual(error);
  });

  it.each([
    [Code.InvalidArgument, ErrorCode.VALIDATION],
    [Code.NotFound, ErrorCode.NOT_FOUND],
    [Code.AlreadyExists, ErrorCode.CONFLICT],
    [Code.FailedPrecondition, ErrorCode.CONFLICT],
    [Code.PermissionDenied, ErrorCode.PERMISSION_DENIED],
    [Code.Unauthenticated, ErrorCode.UNAUTHENTICATED],
    [Code.ResourceExhausted, ErrorCode.RESOURCE_EXHAUSTED],
    [Code.Unimplemented, ErrorCode.UNSUPPORTED],
    [Code.DeadlineExceeded, ErrorCode.DEADLINE_EXCEEDED],
  ])("without one, from a proxy or the library, keeps its meaning and is final: %i", (code, expected) => {
    const status = new ConnectError("no", code);
    status.isWireError = true;
    const error = fromStatus(status, false);
    expect(error.detail).toMatchObject({ code: expected, reason: "", retryable: false, message: "no", origin: "client" });
    expect(isPassing(error)).toBe(false);
  });

  // The library says InvalidArgument of an answer that is cut short.
  it.each([Code.Unavailable, Code.Aborted, Code.Canceled, Code.Internal, Code.Unknown, Code.DataLoss, Code.OutOfRange, Code.InvalidArgument])(
    "without one, such as a broken connection gives, says that nobody knows what happened, and may be tried again: %i",
    (code) => {
      const error = fromStatus(new ConnectError("reset", code), false);
      expect(error.detail).toMatchObject({ code: ErrorCode.STORAGE_ERROR, reason: "TRANSPORT", retryable: true });
      expect(isPassing(error)).toBe(true);
    },
  );

  it.each([Code.Canceled, Code.Unavailable, Code.Unknown])("is `cancelled` where this side gave the call up: %i", (code) => {
    const error = fromStatus(new ConnectError("reset", code), true);
    expect(error.code).toBe(ErrorCode.CANCELLED);
    expect(isPassing(error)).toBe(false);
  });
});
