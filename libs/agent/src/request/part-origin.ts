import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";

/** Which model wrote a part, and what its provider wants back with it. Kept as `provider_metadata_json`. */
export interface PartOrigin {
  readonly provider: string;
  /** The model's id without the provider's name. */
  readonly model: string;
  /** What an artifact part holds, where it is not the answer's text. */
  readonly kind?: "reasoning";
  /** The provider's metadata, unchanged. */
  readonly metadata?: SharedV4ProviderMetadata;
}

export function encodeOrigin(origin: PartOrigin): string {
  return JSON.stringify(origin);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The origin, or undefined where the text holds none: then nothing goes back to any provider. */
export function decodeOrigin(text: string): PartOrigin | undefined {
  if (text === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not written by this library; another worker's notes are not ours to send.
    return undefined;
  }
  if (!isRecord(value) || typeof value.provider !== "string" || typeof value.model !== "string") return undefined;
  return {
    provider: value.provider,
    model: value.model,
    ...(value.kind === "reasoning" ? { kind: value.kind } : {}),
    ...(isRecord(value.metadata) ? { metadata: value.metadata as SharedV4ProviderMetadata } : {}),
  };
}
