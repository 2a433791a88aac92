const PASTE_START = "\u001B[200~";
const PASTE_END = "\u001B[201~";
/** As its UTF-8 bytes, a character each. */
const BREAK_BYTES = "\u00E2\u008F\u008E";
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROLS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g;

/** Stands for a line end of a pasted text while the line is edited. */
const BREAK = "\u23CE";

/** An edited line with the line ends that it was pasted with. */
export function withLineEnds(edited: string): string {
  return edited.replaceAll(BREAK, "\n").replace(/\n+$/, "");
}

export interface TypedPiece {
  /** For the line editor. */
  readonly editor: string;
  /** What comes after the line's end; undefined while the line goes on. */
  readonly rest?: string;
}

/**
 * Cuts what a terminal sends at the end of the first line, so that no line after it is lost with the editor that reads it. A bracketed paste is one line,
 * however many it has. Texts are bytes, a character each.
 */
export class TypedLine {
  #isPasting = false;
  #held = "";

  take(typed: string): TypedPiece {
    let text = this.#held + typed;
    let editor = "";
    this.#held = "";
    for (;;) {
      const marker = text.indexOf(this.#isPasting ? PASTE_END : PASTE_START);
      const lineEnd = this.#isPasting ? undefined : (/\r\n?|\n/.exec(text) ?? undefined);
      if (lineEnd !== undefined && (marker < 0 || lineEnd.index < marker)) {
        return { editor: `${editor}${text.slice(0, lineEnd.index)}\r`, rest: text.slice(lineEnd.index + lineEnd[0].length) };
      }
      const end = marker < 0 ? text.length - this.#unfinished(text) : marker;
      editor += this.#isPasting ? pasted(text.slice(0, end)) : text.slice(0, end);
      if (marker < 0) {
        this.#held = text.slice(end);
        return { editor };
      }
      text = text.slice(marker + PASTE_START.length);
      this.#isPasting = !this.#isPasting;
    }
  }

  /** How much of a text's end may be the beginning of a marker, or of a line end of two characters; an Escape alone is a key. */
  #unfinished(text: string): number {
    const marker = this.#isPasting ? PASTE_END : PASTE_START;
    for (let length = Math.min(marker.length - 1, text.length); length > 1; length--) if (text.endsWith(marker.slice(0, length))) return length;
    return this.#isPasting && (text.endsWith("\r") || text.endsWith("\u001B")) ? 1 : 0;
  }
}

function pasted(text: string): string {
  return text.replaceAll(/\r\n?|\n/g, BREAK_BYTES).replaceAll(CONTROLS, "");
}
