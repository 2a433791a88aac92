import { ForgeError } from "@forge/protocol";
import type { OutputDelta } from "@forge/protocol/worker";

const MESSAGE_MAX = 1_024;
const TYPE_MAX = 128;
const JSON_BYTES_MAX = 16_384;

/** What a tool tells people or applications beside its output, within its bounds. Errors: validation. Any other output passes. */
export function checkReport({ kind }: OutputDelta): void {
  if (kind.case === "progress") {
    const { message, fraction } = kind.value;
    if (message.length > MESSAGE_MAX) throw ForgeError.validation("deltas.progress.message", `a message has at most ${MESSAGE_MAX} characters`);
    if (fraction !== undefined && !(fraction >= 0 && fraction <= 1)) throw ForgeError.validation("deltas.progress.fraction", "a fraction is from 0 to 1");
  } else if (kind.case === "structured") {
    const { type, json } = kind.value;
    if (type === "" || type.length > TYPE_MAX) throw ForgeError.validation("deltas.structured.type", `a type has 1 to ${TYPE_MAX} characters`);
    if (Buffer.byteLength(json) > JSON_BYTES_MAX) throw ForgeError.validation("deltas.structured.json", "a report has at most 16 KiB");
    if (!isJson(json)) throw ForgeError.validation("deltas.structured.json", "a report is JSON text");
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Only whether it is JSON is asked; the parser's own words quote the text.
    return false;
  }
}
