import type { ArtifactRef } from "@forge/protocol/common";
import type { JsonValue } from "../tools/tool-definition.ts";
import { canonicalJson } from "./canonical-json.ts";

/** What a server answers to a call; anything may be in it. */
export interface McpResult {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}

/** Where what is not text is put. */
type PutArtifact = (content: Uint8Array, mediaType: string) => Promise<ArtifactRef>;

/** Pieces of one answer. */
const CONTENT_MAX = 256;

/**
 * An answer as a tool's output: `content`, its pieces in order, and `structured` where there is some. Images, sound and binary resources are kept as artifacts
 * and named by their hash.
 */
export async function outputOf(result: McpResult, putArtifact: PutArtifact): Promise<JsonValue> {
  const pieces = Array.isArray(result.content) ? result.content : [];
  const structured = result.structuredContent as JsonValue | undefined;
  const content: JsonValue[] = [];
  for (const piece of pieces.slice(0, CONTENT_MAX) as unknown[]) {
    // Servers repeat structured content as text, for clients that know only text.
    if (structured !== undefined && repeats(piece, structured)) continue;
    content.push(await pieceOf(piece, putArtifact));
  }
  if (pieces.length > CONTENT_MAX) content.push({ type: "omitted", count: pieces.length - CONTENT_MAX });
  return structured === undefined ? { content } : { content, structured };
}

/** The text of an answer, for an error's message. */
export function textOf({ content, structuredContent }: McpResult): string {
  const texts = (Array.isArray(content) ? (content as unknown[]) : []).map((piece) => fieldsOf(piece).text).filter((text) => typeof text === "string");
  return texts.join("\n") || (structuredContent === undefined ? "" : JSON.stringify(structuredContent));
}

async function pieceOf(piece: unknown, putArtifact: PutArtifact): Promise<JsonValue> {
  const fields = fieldsOf(piece);
  switch (fields.type) {
    case "text":
      return { type: "text", text: stringOf(fields.text) };
    case "image":
    case "audio":
      return { type: fields.type, ...(await artifactOf(stringOf(fields.data), stringOf(fields.mimeType), putArtifact)) };
    case "resource": {
      const resource = fieldsOf(fields.resource);
      const named = { type: "resource", uri: stringOf(resource.uri) };
      if (typeof resource.blob !== "string") return { ...named, media_type: stringOf(resource.mimeType) || "text/plain", text: stringOf(resource.text) };
      return { ...named, ...(await artifactOf(resource.blob, stringOf(resource.mimeType), putArtifact)) };
    }
    case "resource_link":
      return { type: "resource_link", uri: stringOf(fields.uri), name: stringOf(fields.name), description: stringOf(fields.description) };
    default:
      return { type: "unsupported", of: stringOf(fields.type) };
  }
}

async function artifactOf(base64: string, mimeType: string, putArtifact: PutArtifact): Promise<{ readonly [key: string]: JsonValue }> {
  const content = Buffer.from(base64, "base64");
  const mediaType = /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : "application/octet-stream";
  const { sha256 } = await putArtifact(content, mediaType);
  return { media_type: mediaType, artifact: sha256, bytes: content.length };
}

function repeats(piece: unknown, structured: JsonValue): boolean {
  const { type, text } = fieldsOf(piece);
  if (type !== "text" || typeof text !== "string" || !/^\s*[[{]/.test(text)) return false;
  try {
    return canonicalJson(JSON.parse(text)) === canonicalJson(structured);
  } catch {
    // It is text after all.
    return false;
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
