import { clone, create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import type { ArtifactRef } from "@forge/protocol/common";
import {
  type Message,
  type Part,
  PartSchema,
  type ReadConversationResponse,
  ReadConversationResponseSchema,
  type ToolResultPart,
} from "@forge/protocol/session";
import { isText } from "./media-type.ts";
import { decodeOrigin } from "./part-origin.ts";

/** Text of artifacts in one request, all together, in bytes: about a million tokens, more than models read. */
export const INLINED_BYTES_MAX = 4 * 1024 * 1024;

/** Of one tool result's artifact; the rest is left out and the model is told. */
export const TOOL_RESULT_BYTES_MAX = 64 * 1024;

type GetArtifact = (sha256: string) => Promise<Uint8Array>;

function decodeText(bytes: Uint8Array, ref: ArtifactRef): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw ForgeError.validation("artifact", `Artifact ${ref.sha256} says it is ${ref.mediaType} but is not UTF-8 text.`, { origin: "worker", cause });
  }
}

/** The first bytes as text, cut between characters. */
function head(bytes: Uint8Array, length: number): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(0, length), { stream: true });
}

/** Refuses a conversation that inlines too much. */
class InlineBudget {
  #left = INLINED_BYTES_MAX;

  take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left >= 0) return;
    throw ForgeError.validation("artifact", `The conversation's artifacts hold more than ${INLINED_BYTES_MAX} bytes of text, too much for one model call.`, {
      origin: "worker",
    });
  }
}

async function textPart(part: Part, ref: ArtifactRef, getArtifact: GetArtifact, budget: InlineBudget): Promise<Part> {
  if (!isText(ref.mediaType)) return part;
  budget.take(Number(ref.size));
  const text = decodeText(await getArtifact(ref.sha256), ref);
  const isReasoning = decodeOrigin(part.providerMetadataJson)?.kind === "reasoning";
  const { providerMetadataJson } = part;
  return isReasoning
    ? create(PartSchema, { kind: { case: "reasoning", value: { text } }, providerMetadataJson })
    : create(PartSchema, { kind: { case: "text", value: { text } }, providerMetadataJson });
}

async function inlineToolResult(result: ToolResultPart, ref: ArtifactRef, getArtifact: GetArtifact, budget: InlineBudget): Promise<void> {
  budget.take(Math.min(Number(ref.size), TOOL_RESULT_BYTES_MAX));
  const bytes = await getArtifact(ref.sha256);
  const left = bytes.length - TOOL_RESULT_BYTES_MAX;
  result.output = left > 0 ? `${head(bytes, TOOL_RESULT_BYTES_MAX)}\n[${left} more bytes left out]` : new TextDecoder().decode(bytes);
  result.artifact = undefined;
}

async function inlineMessage(message: Message, getArtifact: GetArtifact, budget: InlineBudget): Promise<void> {
  for (const [index, part] of message.parts.entries()) {
    if (part.kind.case === "artifact") message.parts[index] = await textPart(part, part.kind.value, getArtifact, budget);
    else if (part.kind.case === "toolResult" && part.kind.value.artifact)
      await inlineToolResult(part.kind.value, part.kind.value.artifact, getArtifact, budget);
  }
}

/**
 * The conversation with its artifacts as text, so that a request can be assembled without I/O; files that are no text stay artifacts (see loadFiles). Throws
 * validation for text that is not UTF-8 and for more than 4 MiB in all.
 */
export async function inlineArtifacts(conversation: ReadConversationResponse, getArtifact: GetArtifact): Promise<ReadConversationResponse> {
  const inlined = clone(ReadConversationResponseSchema, conversation);
  const budget = new InlineBudget();
  for (const message of inlined.messages) await inlineMessage(message, getArtifact, budget);
  return inlined;
}
