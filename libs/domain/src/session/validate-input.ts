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
  if (input.length > PARTS_MAX) return invalid("input", `At most ${PARTS_MAX} parts.`);
  let textBytes = 0;
  let saysSomething = false;
  for (const [index, part] of input.entries()) {
    const field = `input[${index}]`;
    if (part.providerMetadataJson !== "") return invalid(`${field}.provider_metadata_json`, "Only a model's answer carries provider metadata.");
    switch (part.kind.case) {
      case "text": {
        const { text } = part.kind.value;
        if (!isStorable(text)) return invalid(`${field}.text`, "A text has no NUL and no half of a surrogate pair.");
        textBytes += utf8Length(text);
        saysSomething ||= text.trim() !== "";
        break;
      }
      case "artifact": {
        const { sha256, mediaType, preview } = part.kind.value;
        if (!/^[0-9a-f]{64}$/.test(sha256))
          return invalid(`${field}.artifact.sha256`, "An artifact is named by its SHA-256, 64 lower-case hexadecimal digits.");
        if (mediaType.length > MEDIA_TYPE_MAX || !isStorable(mediaType))
          return invalid(`${field}.artifact.media_type`, "A media type has at most 256 characters.");
        if (preview.length > PREVIEW_MAX || !isStorable(preview)) return invalid(`${field}.artifact.preview`, "A preview has at most 256 characters.");
        saysSomething = true;
        break;
      }
      default:
        return invalid(field, "A person's input is text or an artifact.");
    }
  }
  if (!saysSomething) return invalid("input", "At least one part with text or an artifact is needed.");
  if (textBytes > TEXT_BYTES_MAX) return invalid("input", "The texts of an input have at most 64 KiB in all; store what is longer as an artifact.");
  return undefined;
}
