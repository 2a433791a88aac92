import { Code, ConnectError } from "@connectrpc/connect";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { toForgeError, toStatus } from "./status.ts";

describe("the status of an error", () => {
  const table: Readonly<Record<Exclude<keyof typeof ErrorCode, "UNSPECIFIED">, Code>> = {
    VALIDATION: Code.InvalidArgument,
    NOT_FOUND: Code.NotFound,
    CONFLICT: Code.FailedPrecondition,
    UNSUPPORTED: Code.Unimplemented,
    UNSUPPORTED_VERSION: Code.Unimplemented,
    UNAUTHENTICATED: Code.Unauthenticated,
    PERMISSION_DENIED: Code.PermissionDenied,
    SANDBOX_VIOLATION: Code.PermissionDenied,
    RESOURCE_EXHAUSTED: Code.ResourceExhausted,
    DEADLINE_EXCEEDED: Code.DeadlineExceeded,
    CANCELLED: Code.Canceled,
    WORKER_LOST: Code.Unavailable,
    PROVIDER_ERROR: Code.Unavailable,
    STORAGE_ERROR: Code.Unavailable,
    INTERNAL: Code.Internal,
  };

  it.each(Object.entries(table))("of %s is what the protocol says, with the whole error in its details", (name, code) => {
    const error = new ForgeError(ErrorCode[name as keyof typeof ErrorCode], "what happened", {
      reason: "SOME_REASON",
      retryable: true,
      origin: "control-plane",
      relatedIds: ["one"],
      metadata: { field: "header.command_id" },
    });
    const status = toStatus(error);
    expect(status.code).toBe(code);
    expect(status.rawMessage).toBe("what happened");
    expect(status.findDetails(ForgeErrorSchema)).toEqual([error.detail]);
  });

  it.each([
    ["SEQ_MISMATCH", Code.Aborted],
    ["COMMAND_ID_REUSED", Code.AlreadyExists],
    ["TURN_ACTIVE", Code.FailedPrecondition],
    ["", Code.FailedPrecondition],
  ])("of a conflict depends on its reason: %s", (reason, code) => {
    expect(toStatus(new ForgeError(ErrorCode.CONFLICT, "no", { reason })).code).toBe(code);
  });
});

describe("what a service threw", () => {
  function convert(thrown: unknown) {
    const logged: { error: unknown; id: string }[] = [];
    return { error: toForgeError(thrown, (error, id) => logged.push({ error, id })), logged };
  }

  it("goes through as it is, and is not logged, when it is an error of Forge", () => {
    const thrown = ForgeError.validation("title", "title is too long");
    expect(convert(thrown)).toEqual({ error: thrown, logged: [] });
  });

  it.each([new TypeError("secret of /etc"), new ForgeError(ErrorCode.INTERNAL, "secret of /etc"), "secret of /etc", undefined])(
    "shows nothing but an id when it is a bug (%s), under which the bug is logged",
    (thrown) => {
      const { error, logged } = convert(thrown);
      const id = logged[0]?.id as string;
      expect(logged).toEqual([{ error: thrown, id }]);
      expect(id).toMatch(/^[0-9a-f]{8}$/);
      expect(error.detail).toMatchObject({
        code: ErrorCode.INTERNAL,
        relatedIds: [id],
        message: `an internal error with id ${id}: the server's log has its stack`,
      });
    },
  );

  it.each([
    [new ConnectError("the operation timed out", Code.DeadlineExceeded), ErrorCode.DEADLINE_EXCEEDED],
    [new ConnectError("stream closed", Code.Canceled), ErrorCode.CANCELLED],
    [new DOMException("This operation was aborted", "AbortError"), ErrorCode.CANCELLED],
  ])("is no bug when it is the reason for which the call ended: %s", (thrown, code) => {
    const { error, logged } = convert(thrown);
    expect(error.code).toBe(code);
    expect(logged).toEqual([]);
  });
});
