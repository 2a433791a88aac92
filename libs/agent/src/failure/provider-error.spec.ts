import { APICallError } from "@ai-sdk/provider";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import type { ModelProvider } from "../provider.ts";
import { createScrubber } from "../providers/scrub.ts";
import { toProviderError } from "./provider-error.ts";
import { StreamBroken } from "./stream-error.ts";

const KEY = "secret-key-1234";
const provider: ModelProvider = {
  name: "openai",
  versions: {},
  keyVariable: "OPENAI_API_KEY",
  listPrices: true,
  languageModel: () => {
    throw new Error("not called");
  },
  scrub: createScrubber([KEY]),
};

function status(statusCode: number, options: { body?: string; data?: unknown; headers?: Record<string, string>; message?: string } = {}): APICallError {
  const { body, data, headers, message = "said the provider" } = options;
  return new APICallError({ message, url: "u", requestBodyValues: {}, statusCode, responseBody: body, responseHeaders: headers, data });
}

const convert = (error: unknown, hasOutput = false): ForgeError => toProviderError(error, provider, hasOutput, 0);

describe("toProviderError", () => {
  it.each([
    [429, "RATE_LIMITED", true],
    [500, "PROVIDER_UNAVAILABLE", true],
    [502, "PROVIDER_UNAVAILABLE", true],
    [503, "PROVIDER_UNAVAILABLE", true],
    [529, "PROVIDER_UNAVAILABLE", true],
    [501, "PROVIDER_UNAVAILABLE", false],
    [400, "INVALID_REQUEST", false],
    [401, "PROVIDER_UNAUTHENTICATED", false],
    [403, "PROVIDER_FORBIDDEN", false],
    [404, "MODEL_NOT_FOUND", false],
    [402, "QUOTA_EXHAUSTED", false],
  ])("reads HTTP %i as %s, retryable %s", (code, reason, retryable) => {
    const error = convert(status(code));
    expect([error.code, error.reason, error.detail.retryable]).toEqual([ErrorCode.PROVIDER_ERROR, reason, retryable]);
    expect(error.message).toContain(`HTTP ${code}`);
    expect(error.detail.metadata.http_status).toBe(String(code));
  });

  it("names the variable that holds the key where the provider did not accept it", () => {
    expect(convert(status(401)).message).toContain("Set OPENAI_API_KEY");
    expect(convert(status(403)).message).toContain("Set OPENAI_API_KEY");
  });

  it("waits as long as the provider asks", () => {
    const { retryAfter } = convert(status(429, { headers: { "retry-after": "3" } })).detail;
    expect(retryAfter && durationMs(retryAfter)).toBe(3000);
  });

  it("does not wait for an account without money", () => {
    const error = convert(status(429, { data: { error: { message: "m", code: "insufficient_quota" } } }));
    expect([error.reason, error.detail.retryable]).toEqual(["QUOTA_EXHAUSTED", false]);
  });

  it("takes a limit of the rate for no overflow, whatever it counts", () => {
    expect(convert(status(429, { message: "Rate limit reached: too many tokens, limit 30000 per min." })).reason).toBe("RATE_LIMITED");
    expect(convert(status(400, { message: "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens" })).reason).toBe(
      "INVALID_REQUEST",
    );
    expect(convert(status(400, { message: "The model `gpt-x` does not support a prompt with images" })).reason).toBe("INVALID_REQUEST");
  });

  it("is never retryable once output has come", () => {
    expect(convert(new StreamBroken("it ended"), false).detail.retryable).toBe(true);
    expect(convert(new StreamBroken("it ended"), true).detail.retryable).toBe(false);
    expect(convert(new ForgeError(ErrorCode.STORAGE_ERROR, "lost"), true).detail.retryable).toBe(false);
  });

  it("reads an error within the stream by its name", () => {
    expect(convert({ message: "busy", type: "overloaded_error" })).toMatchObject({ reason: "PROVIDER_STREAM_ERROR", detail: { retryable: true } });
    expect(convert({ message: "no", type: "invalid_request_error" })).toMatchObject({ reason: "PROVIDER_STREAM_ERROR", detail: { retryable: false } });
  });

  it("keeps the code of an error that is ours", () => {
    const error = convert(ForgeError.validation("model", `no ${KEY}`));
    expect([error.code, error.message, error.detail.metadata.field]).toEqual([ErrorCode.VALIDATION, "no [redacted]", "model"]);
  });

  it("shows no secret and at most 4,096 characters", () => {
    const error = convert(status(400, { message: "", body: `Bearer abc.def ${KEY} sk-live-0123456789 ${"x".repeat(100_000)}` }));
    expect(error.message.length).toBeLessThanOrEqual(4096);
    expect(error.message).not.toMatch(/abc\.def|secret-key|0123456789/);
    expect(error.message).toContain("[redacted]");
  });
});
