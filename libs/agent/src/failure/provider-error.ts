import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { ModelProvider } from "../provider.ts";
import { readGoogleDetails } from "./google-details.ts";
import { isOverflow } from "./overflow.ts";
import { retryAfterMs } from "./retry-after.ts";
import { describeStatus } from "./status.ts";
import { StreamBroken, StreamStalled, UnsupportedContent } from "./stream-error.ts";

/** A ForgeError's message has at most 4,096 characters; what the provider said gets most of them. */
const MESSAGE_CHARACTERS_MAX = 4096;
const QUOTE_CHARACTERS_MAX = 3000;

/** Names by which providers report, within a stream, what would have been a 429 or a 5xx before it. */
const TRANSIENT_ERROR_NAMES =
  /rate_limit|resource_exhausted|deadline_exceeded|^internal$|overloaded|server_error|internal_error|unavailable|timeout|api_error/i;

interface Finding {
  readonly reason: string;
  readonly message: string;
  /** Whether trying again could help, had nothing come yet. */
  readonly isTransient: boolean;
  readonly retryAfterMs?: number;
  readonly metadata?: Record<string, string>;
}

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > QUOTE_CHARACTERS_MAX ? `${line.slice(0, QUOTE_CHARACTERS_MAX).toWellFormed()}...` : line;
}

/** A connection error's own words; Node's for several addresses has no message, only a code. */
function connectionProblem(error: APICallError): string {
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return cause.message || code || error.message;
}

function fromCall(error: APICallError, provider: ModelProvider, nowMs: number): Finding {
  if (error.statusCode === undefined) {
    const where = provider.address ? ` (${provider.address})` : "";
    return { reason: "CONNECTION", message: `${provider.name} can't be reached: ${excerpt(connectionProblem(error))}${where}.`, isTransient: true };
  }
  if (error.statusCode < 400) return broken(provider, excerpt(connectionProblem(error)));
  const said = excerpt(error.message || error.responseBody || "no message");
  const body = error.responseBody && !error.data ? ` ${excerpt(error.responseBody)}` : "";
  const data = error.data ?? parsed(error.responseBody);
  const google = readGoogleDetails(data);
  const status = describeStatus(error.statusCode, { name: errorName(data), said: `${said} ${body}`, ...google }, provider);
  return {
    reason: status.reason,
    message: `${provider.name} ${status.verb} (HTTP ${error.statusCode}): ${sentence(`${said}${body}`)}${status.advice}`,
    isTransient: status.isTransient,
    retryAfterMs: status.isTransient ? (retryAfterMs(error.responseHeaders, nowMs) ?? google.retryAfterMs) : undefined,
    metadata: { http_status: String(error.statusCode) },
  };
}

/** A body that the provider package did not recognise. */
function parsed(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? "");
  } catch {
    // Many are no JSON: a proxy's page, a plain sentence.
    return undefined;
  }
}

/** Advice may follow. */
function sentence(text: string): string {
  return /[.!?\u3002]$/u.test(text) ? text : `${text}.`;
}

function broken(provider: ModelProvider, why: string): Finding {
  return { reason: "STREAM_BROKEN", message: `The answer of ${provider.name} broke off: ${why}.`, isTransient: true };
}

/** The `code`, `type` or `status` in an error body, which says more than the status. */
function errorName(data: unknown): string {
  const inner = typeof data === "object" && data !== null && "error" in data ? data.error : data;
  if (typeof inner !== "object" || inner === null) return "";
  const { code, type, status } = inner as { code?: unknown; type?: unknown; status?: unknown };
  return [code, type, status].filter((name) => typeof name === "string" || typeof name === "number").join(" ");
}

/** An error that the provider wrote into its stream: a plain object, not an Error. */
function fromStream(error: object, provider: ModelProvider): Finding {
  const said = "message" in error && typeof error.message === "string" ? error.message : JSON.stringify(error);
  const name = errorName(error);
  if (isOverflow(undefined, `${name} ${said}`)) {
    return {
      reason: "CONTEXT_OVERFLOW",
      message: `${provider.name} refused the request as too long for the model: ${sentence(excerpt(said))}`,
      isTransient: false,
    };
  }
  return {
    reason: "PROVIDER_STREAM_ERROR",
    message: `${provider.name} reported an error: ${excerpt(said)}${name ? ` (${name})` : ""}.`,
    isTransient: TRANSIENT_ERROR_NAMES.test(name),
  };
}

function find(error: unknown, provider: ModelProvider, nowMs: number): Finding {
  if (APICallError.isInstance(error)) return fromCall(error, provider, nowMs);
  if (error instanceof StreamBroken) return broken(provider, error.message);
  if (error instanceof StreamStalled) {
    return { reason: "STREAM_STALLED", message: `${provider.name} was silent for ${error.message}; the call was given up.`, isTransient: true };
  }
  if (InvalidResponseDataError.isInstance(error) || EmptyResponseBodyError.isInstance(error))
    return broken(provider, excerpt(error.message).replace(/\.$/, ""));
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error)) {
    return { reason: "BAD_RESPONSE", message: `${provider.name} sent what is not its own format: ${excerpt(error.message)}`, isTransient: true };
  }
  if (error instanceof UnsupportedContent || UnsupportedFunctionalityError.isInstance(error)) {
    return { reason: "UNSUPPORTED_CONTENT", message: `${provider.name}: Forge does not support this content: ${excerpt(error.message)}.`, isTransient: false };
  }
  if (error instanceof Error) return { reason: "PROVIDER_CALL", message: `The call to ${provider.name} failed: ${excerpt(error.message)}`, isTransient: false };
  if (typeof error === "object" && error !== null) return fromStream(error, provider);
  return { reason: "PROVIDER_CALL", message: `The call to ${provider.name} failed: ${excerpt(String(error))}`, isTransient: false };
}

/**
 * Whatever went wrong with a model call as a ForgeError, without secrets. Retryable only where trying again may help and nothing of the answer had come.
 * A ForgeError keeps its code and reason.
 */
export function toProviderError(error: unknown, provider: ModelProvider, hasOutput: boolean, nowMs: number): ForgeError {
  const clean = (message: string): string => {
    const scrubbed = provider.scrub(message);
    return scrubbed.length > MESSAGE_CHARACTERS_MAX ? scrubbed.slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed() : scrubbed;
  };
  if (error instanceof ForgeError) {
    const { detail } = error;
    return new ForgeError(detail.code, clean(detail.message), { ...detail, retryable: detail.retryable && !hasOutput, cause: error });
  }
  const finding = find(error, provider, nowMs);
  const isRetryable = finding.isTransient && !hasOutput;
  return new ForgeError(ErrorCode.PROVIDER_ERROR, clean(finding.message), {
    reason: finding.reason,
    retryable: isRetryable,
    origin: "provider",
    metadata: { provider: provider.name, ...finding.metadata },
    retryAfter: isRetryable && finding.retryAfterMs !== undefined ? durationFromMs(finding.retryAfterMs) : undefined,
  });
}
