import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it, vi } from "vitest";
import { isPassing, withRetry } from "./retry.ts";

function storageError(): ForgeError {
  return new ForgeError(ErrorCode.STORAGE_ERROR, "the database restarts");
}

describe("an error", () => {
  const passing = new Set<ErrorCode>([ErrorCode.STORAGE_ERROR, ErrorCode.RESOURCE_EXHAUSTED]);
  const codes = Object.values(ErrorCode).filter((code) => typeof code === "number");

  it.each(codes)("passes, or does not, by its code: %i", (code) => {
    expect(isPassing(new ForgeError(code, "no"))).toBe(passing.has(code));
  });

  it("of a quota or the storage passes only when it says so, and what is no error of Forge never does", () => {
    expect(isPassing(new ForgeError(ErrorCode.STORAGE_ERROR, "damaged", { reason: "ARTIFACT_DAMAGED", retryable: false }))).toBe(false);
    expect(isPassing(new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, "message too large", { retryable: false }))).toBe(false);
    expect(isPassing(new Error("storage"))).toBe(false);
    expect(isPassing(undefined)).toBe(false);
  });
});

describe("a call with retries", () => {
  it("is made again while what it fails with passes, and answers what the last one answered", async () => {
    const call = vi.fn<() => Promise<string>>().mockRejectedValueOnce(storageError()).mockRejectedValueOnce(storageError()).mockResolvedValue("done");
    expect(await withRetry(call)).toBe("done");
    expect(call).toHaveBeenCalledTimes(3);
  });

  it("fails at once with what does not pass", async () => {
    const conflict = new ForgeError(ErrorCode.CONFLICT, "turn active", { reason: "TURN_ACTIVE", retryable: true });
    const call = vi.fn<() => Promise<never>>().mockRejectedValue(conflict);
    await expect(withRetry(call)).rejects.toBe(conflict);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("fails with the last error when its patience is over", async () => {
    const errors: ForgeError[] = [];
    const call = vi.fn<() => Promise<never>>().mockImplementation(() => {
      const error = storageError();
      errors.push(error);
      return Promise.reject(error);
    });
    await expect(withRetry(call, { patienceMs: 30 })).rejects.toSatisfy((error) => error === errors.at(-1));
    expect(errors.length).toBeGreaterThan(1);
  });

  it("is not made again after its caller has given up", async () => {
    const stop = new AbortController();
    const error = storageError();
    const call = vi.fn<() => Promise<never>>().mockImplementation(() => {
      stop.abort();
      return Promise.reject(error);
    });
    await expect(withRetry(call, { signal: stop.signal })).rejects.toBe(error);
    expect(call).toHaveBeenCalledTimes(1);
  });
});
