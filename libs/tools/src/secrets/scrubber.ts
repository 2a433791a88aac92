/** What stands in a secret's place. */
const SCRUBBED = "[secret]";
/** Shorter ones would be found in everything. */
const LENGTH_MIN = 6;

/** Takes secrets out of text that tools print. */
export interface Scrubber {
  /** Of a whole text. */
  readonly scrub: (text: string) => string;
  /** Of a text that comes in pieces: what may be the beginning of a secret is held back until it is known. */
  stream(): ScrubbedStream;
}

export interface ScrubbedStream {
  push(piece: string): string;
  /** What was held back. */
  end(): string;
}

/**
 * Finds each value as it is, URL-encoded, and in base64 wherever in a longer text it was encoded. Values of fewer than 6 characters are left alone. It holds
 * against what is printed by mistake; a program that wants to can write a secret in ways that nobody foresees.
 */
export function createScrubber(values: Iterable<string>): Scrubber {
  const forms = [...new Set([...values].filter((value) => value.length >= LENGTH_MIN).flatMap(formsOf))].sort((one, other) => other.length - one.length);
  if (forms.length === 0) return { scrub: (text) => text, stream: () => ({ push: (piece) => piece, end: () => "" }) };
  const pattern = new RegExp(forms.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|"), "g");
  const longest = forms[0]?.length ?? 0;
  const scrub = (text: string): string => text.replaceAll(pattern, SCRUBBED);
  return {
    scrub,
    stream: () => {
      let held = "";
      return {
        push: (piece) => {
          const text = scrub(held + piece);
          const keep = beginningLength(text, forms, longest);
          held = text.slice(text.length - keep);
          return text.slice(0, text.length - keep);
        },
        end: () => {
          const rest = held;
          held = "";
          return rest;
        },
      };
    },
  };
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const encoded = [0, 1, 2].flatMap((before) => {
    const base64 = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    // Without the characters that what stands before and after has a part in.
    const certain = base64.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [certain, certain.replaceAll("+", "-").replaceAll("/", "_")];
  });
  const url = encodeURIComponent(value);
  const percentEncoded = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const quoted = JSON.stringify(value).slice(1, -1);
  return [
    value,
    quoted,
    url,
    url.replaceAll("%20", "+"),
    url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    percentEncoded,
    percentEncoded.toUpperCase(),
    ...encoded,
  ];
}

/** How many of the last characters may be the beginning of a form. */
function beginningLength(text: string, forms: readonly string[], longest: number): number {
  for (let length = Math.min(text.length, longest - 1); length > 0; length--) {
    const end = text.slice(text.length - length);
    if (forms.some((form) => form.length > length && form.startsWith(end))) return length;
  }
  return 0;
}
