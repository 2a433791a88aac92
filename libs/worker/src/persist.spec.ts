import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { expect, it, vi } from "vitest";
import { persist } from "./persist.ts";

it.each([
  [ErrorCode.STORAGE_ERROR, "", true, 2],
  // What is damaged stays so.
  [ErrorCode.STORAGE_ERROR, "ARTIFACT_DAMAGED", false, 1],
  [ErrorCode.UNSUPPORTED_VERSION, "UNKNOWN_EVENT", true, 2],
  [ErrorCode.NOT_FOUND, "WORKER_SESSION", false, 2],
  [ErrorCode.VALIDATION, "", false, 1],
])("an answer %s %s, retryable %s, ends after %i calls where the second would do", async (code, reason, retryable, calls) => {
  const call = vi
    .fn<() => Promise<string>>()
    .mockRejectedValueOnce(new ForgeError(code, "no", { reason, retryable }))
    .mockResolvedValue("done");
  const answer = persist(call);
  if (calls === 1) await expect(answer).rejects.toMatchObject({ code });
  else expect(await answer).toBe("done");
  expect(call).toHaveBeenCalledTimes(calls);
});
