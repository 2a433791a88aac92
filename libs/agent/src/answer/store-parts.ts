import { create } from "@bufbuild/protobuf";
import type { ArtifactRef } from "@forge/protocol/common";
import { type Part, PartSchema } from "@forge/protocol/session";
import { encodeOrigin, type PartOrigin } from "../request/part-origin.ts";
import type { WrittenPart, WrittenText } from "./written-part.ts";

/** Of one part's text, in bytes of UTF-8; a larger one is kept as an artifact. */
const INLINE_TEXT_BYTES_MAX = 64 * 1024;

/** Of all parts' text together, so that an answer of many parts still fits one event. */
const INLINE_ANSWER_BYTES_MAX = 256 * 1024;

export interface PartStore {
  /** Who wrote the parts. */
  readonly provider: string;
  readonly modelId: string;
  putArtifact(content: Uint8Array, mediaType: string): Promise<ArtifactRef>;
}

function textPart(part: WrittenText, text: string, origin: PartOrigin): Part {
  if (part.kind === "reasoning") return create(PartSchema, { kind: { case: "reasoning", value: { text } }, providerMetadataJson: encodeOrigin(origin) });
  // Plain text goes back to whoever is asked next; only metadata is of its provider.
  return create(PartSchema, { kind: { case: "text", value: { text } }, providerMetadataJson: part.metadata ? encodeOrigin(origin) : "" });
}

async function artifactPart(part: WrittenText, bytes: Uint8Array, origin: PartOrigin, store: PartStore): Promise<Part> {
  const artifact = await store.putArtifact(bytes, "text/plain; charset=utf-8");
  const noted: PartOrigin = part.kind === "reasoning" ? { ...origin, kind: "reasoning" } : origin;
  return create(PartSchema, { kind: { case: "artifact", value: artifact }, providerMetadataJson: encodeOrigin(noted) });
}

/**
 * The written parts as the conversation keeps them: in the provider's order, each call's arguments exactly, the metadata marked with who wrote it. Our
 * ids of calls stay empty; whoever decides on the calls gives them.
 */
export async function storeParts(written: readonly WrittenPart[], store: PartStore): Promise<Part[]> {
  const parts: Part[] = [];
  let inline = 0;
  for (const part of written) {
    const origin: PartOrigin = { provider: store.provider, model: store.modelId, ...(part.metadata ? { metadata: part.metadata } : {}) };
    if (part.kind === "call") {
      const value = { toolCallId: "", providerCallId: part.providerCallId, tool: part.tool, argumentsJson: part.arguments.toWellFormed() };
      parts.push(create(PartSchema, { kind: { case: "toolCall", value }, providerMetadataJson: encodeOrigin(origin) }));
      continue;
    }
    const text = part.text.toWellFormed();
    const bytes = new TextEncoder().encode(text);
    const isInline = bytes.length <= INLINE_TEXT_BYTES_MAX && inline + bytes.length <= INLINE_ANSWER_BYTES_MAX;
    if (isInline) inline += bytes.length;
    parts.push(isInline ? textPart(part, text, origin) : await artifactPart(part, bytes, origin, store));
  }
  return parts;
}
