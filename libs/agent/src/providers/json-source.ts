/** Where a value stands in a JSON text: from `start` to `end`, exclusive. */
export interface JsonPlace {
  readonly path: readonly (string | number)[];
  readonly start: number;
  readonly end: number;
}

/** Deeper values are passed over whole. */
const DEPTH_MAX = 64;

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/sy;
const ATOM = /[^,\]}\s]+/y;

/** Walks through a JSON text that is known to be valid, and tells where values stand. */
class Walker {
  readonly #text: string;
  readonly #visit: (place: JsonPlace) => void;
  #at = 0;

  constructor(text: string, visit: (place: JsonPlace) => void) {
    this.#text = text;
    this.#visit = visit;
  }

  walk(path: readonly (string | number)[]): void {
    this.#take(SPACE);
    const start = this.#at;
    const first = this.#text[start];
    if ((first === "{" || first === "[") && path.length >= DEPTH_MAX) this.#passOver();
    else if (first === "{") this.#walkItems("}", () => this.#walkMember(path));
    else if (first === "[") this.#walkItems("]", (index) => this.walk([...path, index]));
    else this.#take(first === '"' ? STRING : ATOM);
    this.#visit({ path, start, end: this.#at });
  }

  #walkMember(path: readonly (string | number)[]): void {
    this.#take(SPACE);
    const key = JSON.parse(this.#take(STRING)) as string;
    this.#take(SPACE);
    // The colon.
    this.#at += 1;
    this.walk([...path, key]);
  }

  #walkItems(close: string, walkItem: (index: number) => void): void {
    this.#at += 1;
    this.#take(SPACE);
    for (let index = 0; this.#at < this.#text.length && this.#text[this.#at] !== close; index++) {
      walkItem(index);
      this.#take(SPACE);
      if (this.#text[this.#at] === ",") this.#at += 1;
      this.#take(SPACE);
    }
    this.#at += 1;
  }

  /** A value with all that is in it, without recursion. */
  #passOver(): void {
    let depth = 0;
    do {
      const character = this.#text[this.#at];
      if (character === '"') this.#take(STRING);
      else this.#at += 1;
      if (character === "{" || character === "[") depth += 1;
      if (character === "}" || character === "]") depth -= 1;
    } while (depth > 0 && this.#at < this.#text.length);
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += taken.length;
    return taken;
  }
}

/** The places of all values in a JSON text, inner ones first. Throws SyntaxError where it is no JSON. */
export function findValues(text: string): JsonPlace[] {
  JSON.parse(text);
  const places: JsonPlace[] = [];
  new Walker(text, (place) => places.push(place)).walk([]);
  return places;
}
