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

/** What a secret may look like in a text. */
interface Form {
  readonly text: string;
  /** Programs that write it break it into lines. */
  readonly wraps: boolean;
}

/** How a text goes on from a place: with a form up to an end, with the beginning of one as far as it is known, or with neither. */
type Found = number | "beginning" | undefined;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
/** Of a form that breaks off with a line, so many characters are no coincidence; fewer are not waited for. */
const BEGINNING_MIN = 4;

/**
 * Finds each value as it is, URL-encoded, and in hexadecimal and base64 wherever in a longer text it was encoded, in lines or not. Values of fewer than 6 characters are left alone. It holds
 * against what is printed by mistake; a program that wants to can write a secret in ways that nobody foresees.
 */
export function createScrubber(values: Iterable<string>): Scrubber {
  const forms = [...values].filter((value) => value.length >= LENGTH_MIN).flatMap(formsOf);
  if (forms.length === 0) return { scrub: (text) => text, stream: () => ({ push: (piece) => piece, end: () => "" }) };
  const finder = new Finder([...new Map(forms.map((form) => [form.text, form])).values()]);
  return {
    scrub: (text) => scrubbed(finder, text, true).told,
    stream: () => {
      let held = "";
      return {
        push: (piece) => {
          const { told, rest } = scrubbed(finder, held + piece, false);
          held = rest;
          return told;
        },
        end: () => {
          const { told } = scrubbed(finder, held, true);
          held = "";
          return told;
        },
      };
    },
  };
}

/** The text without forms; the rest is what may be the beginning of one, where the text is not whole. */
function scrubbed(finder: Finder, text: string, isWhole: boolean): { readonly told: string; readonly rest: string } {
  let told = "";
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const found = finder.at(text, at, isWhole);
    if (found === "beginning") return { told: told + text.slice(from, at), rest: text.slice(at) };
    if (found === undefined) {
      at++;
      continue;
    }
    told += text.slice(from, at) + SCRUBBED;
    from = found;
    at = found;
  }
  return { told: told + text.slice(from), rest: "" };
}

/** Looks for forms by their first two characters, which few places of a text have. */
class Finder {
  readonly #byFirst = new Map<number, Form[]>();
  readonly #byPair = new Map<number, Form[]>();
  readonly #pairs = new Uint8Array(1 << 16);

  constructor(forms: readonly Form[]) {
    for (const form of forms) {
      const pair = pairAt(form.text, 0) as number;
      add(this.#byFirst, form.text.charCodeAt(0), form);
      add(this.#byPair, pair, form);
      this.#pairs[pair] = 1;
    }
  }

  at(text: string, start: number, isWhole: boolean): Found {
    const pair = pairAt(text, start);
    if (pair !== undefined && this.#pairs[pair] === 0) return undefined;
    const candidates = pair === undefined ? this.#byFirst.get(text.charCodeAt(start)) : this.#byPair.get(pair);
    let end: number | undefined;
    for (const form of candidates ?? []) {
      const found = compare(form, text, start);
      if (found === "beginning" && !isWhole) return found;
      if (typeof found === "number" && found > (end ?? 0)) end = found;
    }
    return end;
  }
}

/** The lower halves of two characters, with no end of a line between them; undefined where the second is not there yet. */
function pairAt(text: string, start: number): number | undefined {
  let next = start + 1;
  while (isBreak(text.charCodeAt(next))) next++;
  return next < text.length ? ((text.charCodeAt(start) & 0xff) << 8) | (text.charCodeAt(next) & 0xff) : undefined;
}

function compare({ text: form, wraps }: Form, text: string, start: number): Found {
  let at = start;
  for (let known = 0; known < form.length; at++) {
    if (at === text.length) return known < BEGINNING_MIN && isBreak(text.charCodeAt(at - 1)) ? undefined : "beginning";
    const code = text.charCodeAt(at);
    if (code === form.charCodeAt(known)) known++;
    else if (!wraps || known === 0 || !isBreak(code)) return undefined;
  }
  return at;
}

function isBreak(code: number): boolean {
  return code === LINE_FEED || code === CARRIAGE_RETURN;
}

function add(forms: Map<number, Form[]>, key: number, form: Form): void {
  const others = forms.get(key);
  if (others === undefined) forms.set(key, [form]);
  else others.push(form);
}

function formsOf(value: string): Form[] {
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
  const hex = bytes.toString("hex");
  const plain = [
    value,
    quoted,
    url,
    url.replaceAll("%20", "+"),
    url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    percentEncoded,
    percentEncoded.toUpperCase(),
  ];
  return [...plain.map((text) => ({ text, wraps: false })), ...[hex, hex.toUpperCase(), ...encoded].map((text) => ({ text, wraps: true }))];
}
