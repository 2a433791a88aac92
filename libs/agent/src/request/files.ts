import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from "@ai-sdk/provider";
import { ForgeError } from "@forge/protocol";
import { type ArtifactRef, ErrorCode } from "@forge/protocol/common";
import type { ReadConversationResponse } from "@forge/protocol/session";
import type { InputKind } from "../models/model-table.ts";

/** Of all files in one request together: what providers take, with room for the text. */
export const FILES_BYTES_MAX = 20 * 1024 * 1024;

/** By SHA-256; what is missing is told to the model in words. */
export type FileContents = ReadonlyMap<string, Uint8Array>;

/** For whom files are loaded. */
export interface FileReader {
  /** With its provider, for messages. */
  readonly model: string;
  readonly inputs: readonly InputKind[];
  /** Files of this turn must be read; of earlier ones, as many as can be. */
  readonly turnId: string;
}

function kindOf(mediaType: string): InputKind | undefined {
  const essence = (mediaType.split(";")[0] ?? "").trim().toLowerCase();
  if (essence === "application/pdf") return "pdf";
  const top = essence.split("/")[0];
  return top === "image" || top === "audio" || top === "video" ? top : undefined;
}

function unreadable(ref: ArtifactRef, reader: FileReader): ForgeError {
  const reads = reader.inputs.length > 0 ? `text and ${reader.inputs.join(", ")}` : "text only";
  return new ForgeError(ErrorCode.UNSUPPORTED, `${reader.model} can't be given artifact ${ref.sha256}, which is ${ref.mediaType}: it reads ${reads}.`, {
    reason: "UNSUPPORTED_INPUT",
    origin: "worker",
    metadata: { media_type: ref.mediaType },
  });
}

function tooLarge(ref: ArtifactRef): ForgeError {
  return ForgeError.validation(
    "artifact",
    `Artifact ${ref.sha256} (${ref.size} bytes) is too large: the files of one request hold at most ${FILES_BYTES_MAX} bytes.`,
    {
      reason: "INPUT_TOO_LARGE",
      origin: "worker",
    },
  );
}

/**
 * The contents of the files that a conversation shows the model: those of the asking turn all, or an error where the model can't take one (UNSUPPORTED_INPUT)
 * or they are too large (INPUT_TOO_LARGE); of those before, the newest that fit. Another model may have been asked then.
 */
export async function loadFiles(
  conversation: ReadConversationResponse,
  reader: FileReader,
  getArtifact: (sha256: string) => Promise<Uint8Array>,
): Promise<FileContents> {
  const contents = new Map<string, Uint8Array>();
  let left = FILES_BYTES_MAX;
  for (const message of conversation.messages.toReversed()) {
    const isNeeded = message.turnId === reader.turnId;
    for (const part of message.parts) {
      if (part.kind.case !== "artifact" || contents.has(part.kind.value.sha256)) continue;
      const ref = part.kind.value;
      const kind = kindOf(ref.mediaType);
      const isReadable = kind !== undefined && reader.inputs.includes(kind);
      const fits = ref.size <= BigInt(left);
      if (isNeeded && !isReadable) throw unreadable(ref, reader);
      if (isNeeded && !fits) throw tooLarge(ref);
      if (!isReadable || !fits) continue;
      contents.set(ref.sha256, await getArtifact(ref.sha256));
      left -= Number(ref.size);
    }
  }
  return contents;
}

/** A file as a part of a user's message. */
export function filePart(ref: ArtifactRef, files: FileContents): LanguageModelV4FilePart | LanguageModelV4TextPart {
  const data = files.get(ref.sha256);
  if (data === undefined)
    return { type: "text", text: `[A file of type ${ref.mediaType || "unknown"}, ${ref.size} bytes, was shown here; it can't be shown to you.]` };
  return { type: "file", mediaType: (ref.mediaType.split(";")[0] ?? "").trim(), data: { type: "data", data } };
}
