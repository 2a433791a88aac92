import { create } from "@bufbuild/protobuf";
import { ErrorCode, type ForgeError as ForgeErrorMessage, ForgeErrorSchema } from "./gen/forge/common/v1/common_pb.ts";

/** The fields of a ForgeError that may be left out. */
export type ForgeErrorOptions = Partial<Pick<ForgeErrorMessage, "reason" | "retryable" | "origin" | "relatedIds" | "metadata" | "retryAfter">> & {
  cause?: unknown;
};

const RETRYABLE_BY_DEFAULT: ReadonlySet<ErrorCode> = new Set([ErrorCode.RESOURCE_EXHAUSTED, ErrorCode.STORAGE_ERROR]);

/** The one error class: a closed code, a reason in capitals, and what to do. `detail` is its wire form. */
export class ForgeError extends Error {
  readonly detail: ForgeErrorMessage;

  constructor(code: ErrorCode, message: string, options: ForgeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ForgeError";
    this.detail = create(ForgeErrorSchema, {
      code,
      message,
      reason: options.reason ?? "",
      retryable: options.retryable ?? RETRYABLE_BY_DEFAULT.has(code),
      origin: options.origin ?? "",
      relatedIds: options.relatedIds ?? [],
      metadata: options.metadata ?? {},
      retryAfter: options.retryAfter,
    });
  }

  get code(): ErrorCode {
    return this.detail.code;
  }

  get reason(): string {
    return this.detail.reason;
  }

  /** A ForgeError with exactly this wire form. */
  static from(detail: ForgeErrorMessage): ForgeError {
    return new ForgeError(detail.code, detail.message, detail);
  }

  /** Bad input, naming the field. */
  static validation(field: string, message: string, options: ForgeErrorOptions = {}): ForgeError {
    return new ForgeError(ErrorCode.VALIDATION, message, { ...options, metadata: { field, ...options.metadata } });
  }
}
