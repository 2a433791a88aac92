import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";

/** A text or reasoning part. */
export interface WrittenText {
  readonly kind: "text" | "reasoning";
  text: string;
  metadata: SharedV4ProviderMetadata | undefined;
}

/** A tool call; `arguments` is the provider's text exactly, cut where the provider cut it. */
export interface WrittenCall {
  readonly kind: "call";
  readonly providerCallId: string;
  /** Our name of it. */
  readonly tool: string;
  arguments: string;
  metadata: SharedV4ProviderMetadata | undefined;
}

export type WrittenPart = WrittenText | WrittenCall;
