import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** What is wrong with an archive: `validation`, with the reason BUNDLE_INVALID. */
export function bundleError(message: string, options: { readonly file?: string; readonly cause?: unknown } = {}): ForgeError {
  const metadata: Record<string, string> = options.file === undefined ? {} : { file: options.file };
  return ForgeError.validation("bundle", message, { reason: "BUNDLE_INVALID", metadata, cause: options.cause });
}

/** It holds more than a project does: `resource_exhausted`, BUNDLE_TOO_LARGE. */
export function tooLarge(message: string): ForgeError {
  return new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, message, { reason: "BUNDLE_TOO_LARGE", origin: "client" });
}
