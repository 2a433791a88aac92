import type { Part } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import { isStorable, utf8Length } from "../text.ts";
import { invalid } from "./rejections.ts";

const PARTS_MAX = 128;
const TEXT_BYTES_MAX = 65_536;
const MEDIA_TYPE_MAX = 256;
const PREVIEW_MAX = 256;

/** The first thing wrong with what a person says, with its field; undefined where all is well. */
export function validateInput(input: readonly Part[]): Rejected | undefined {
  const wrong = validateParts("input", input);
  if (wrong !== undefined) return wrong;
  const saysSomething = input.some(({ kind }) => kind.case === "artifact" || (kind.case === "text" && kind.value.text.trim() !== ""));
  if (!saysSomething) return invalid("input", "At least one part with text or an artifact is needed.");
  const textBytes = input.reduce((sum, { kind }) => sum + (kind.case === "text" ? utf8Length(kind.value.text) : 0), 0);
  if (textBytes > TEXT_BYTES_MAX) return invalid("input", "The texts of an input have at most 64 KiB in all; store what is longer as an artifact.");
  return undefined;
}

/** The first thing that is no text and no artifact, or not one that can be kept. */
export function validateParts(name: string, parts: readonly Part[]): Rejected | undefined {
  if (parts.length > PARTS_MAX) return invalid(name, `At most ${PARTS_MAX} parts.`);
  for (const [index, part] of parts.entries()) {
    const field = `${name}[${index}]`;
    if (part.providerMetadataJson !== "") return invalid(`${field}.provider_metadata_json`, "Only a model's answer carries provider metadata.");
    switch (part.kind.case) {
      case "text":
        if (!isStorable(part.kind.value.text)) return invalid(`${field}.text`, "A text has no NUL and no half of a surrogate pair.");
        break;
      case "artifact": {
        const { sha256, mediaType, preview } = part.kind.value;
        if (!/^[0-9a-f]{64}$/.test(sha256))
          return invalid(`${field}.artifact.sha256`, "An artifact is named by its SHA-256, 64 lower-case hexadecimal digits.");
        if (mediaType.length > MEDIA_TYPE_MAX || !isStorable(mediaType))
          return invalid(`${field}.artifact.media_type`, "A media type has at most 256 characters.");
        if (preview.length > PREVIEW_MAX || !isStorable(preview)) return invalid(`${field}.artifact.preview`, "A preview has at most 256 characters.");
        break;
      }
      default:
        return invalid(field, "What is said is text or an artifact.");
    }
  }
  return undefined;
}
