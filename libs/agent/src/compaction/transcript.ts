import type { ArtifactRef } from "@forge/protocol/common";
import { type Message, type Part, Role, type ToolResultPart } from "@forge/protocol/session";
import { isText } from "../request/media-type.ts";
import { cutMiddle } from "./cut.ts";

/** Of one part: a summary needs what a tool found, not all of it. */
const PART_BYTES_MAX = 16 * 1024;

/** Reads an artifact; the bytes of text that it may be shown by. */
export type ReadArtifact = (sha256: string) => Promise<Uint8Array>;

const SPEAKERS: Readonly<Record<Role, string>> = {
  [Role.UNSPECIFIED]: "Unknown",
  [Role.SYSTEM]: "System",
  [Role.USER]: "User",
  [Role.ASSISTANT]: "Agent",
  [Role.TOOL]: "Tool",
};

async function artifactText(ref: ArtifactRef, readArtifact: ReadArtifact): Promise<string> {
  if (!isText(ref.mediaType)) return `[a file of type ${ref.mediaType}, ${ref.size} bytes]`;
  return new TextDecoder().decode(await readArtifact(ref.sha256));
}

async function resultText(result: ToolResultPart, readArtifact: ReadArtifact): Promise<string> {
  const output = result.artifact && isText(result.artifact.mediaType) ? await artifactText(result.artifact, readArtifact) : result.output;
  return `${result.isError ? "Error of" : "Result of"} ${result.tool}: ${output}`;
}

async function partText(part: Part, readArtifact: ReadArtifact): Promise<string> {
  switch (part.kind.case) {
    case "text":
      return part.kind.value.text;
    // What the model thought is not part of what was said.
    case "reasoning":
    case undefined:
      return "";
    case "toolCall":
      return `Call of ${part.kind.value.tool} with ${part.kind.value.argumentsJson}`;
    case "toolResult":
      return resultText(part.kind.value, readArtifact);
    case "artifact":
      return artifactText(part.kind.value, readArtifact);
    default:
      return part.kind satisfies never;
  }
}

/** The messages as text, one entry each, for somebody who was not there; long parts without their middle. */
export async function toTranscript(messages: readonly Message[], readArtifact: ReadArtifact): Promise<string[]> {
  const entries: string[] = [];
  for (const message of messages) {
    const texts: string[] = [];
    for (const part of message.parts) {
      const text = await partText(part, readArtifact);
      if (text.trim() !== "") texts.push(cutMiddle(text, PART_BYTES_MAX));
    }
    if (texts.length > 0) entries.push(`${SPEAKERS[message.role]}: ${texts.join("\n")}`);
  }
  return entries;
}
