const PASTE_START = "\u001B[200~";
const PASTE_END = "\u001B[201~";
/** As its UTF-8 bytes, a character each. */
const BREAK_BYTES = "\u00E2\u008F\u008E";
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROLS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F]/g;

const ESCAPE = "\u001B";
const BACKSPACE = "\u007F";

/** Stands for a line end, pasted or typed, while the line is edited. */
const BREAK = "\u23CE";

/** An edited line with the line ends that it has. */
export function withLineEnds(edited: string): string {
  return edited.replaceAll(BREAK, "\n").replace(/\n+$/, "");
}

/** A text of several lines as the line editor takes it. */
export function asOneLine(text: string): string {
  return text.replaceAll("\n", BREAK);
}

export interface TypedPiece {
  /** For the line editor. */
  readonly editor: string;
  /** What comes after the line's end; undefined while the line goes on. */
  readonly rest?: string;
}

/**
 * Cuts what a terminal sends at the end of the first line, so that no line after it is lost with the editor that reads it. A bracketed paste is one line,
 * however many it has; Enter with Alt, or behind a backslash, goes on in it. Texts are bytes, a character each.
 */
export class TypedLine {
  #isPasting = false;
  #held = "";
  /** What the editor was given last. */
  #last = "";

  take(typed: string): TypedPiece {
    let text = this.#held + typed;
    let editor = "";
    this.#held = "";
    for (;;) {
      const marker = text.indexOf(this.#isPasting ? PASTE_END : PASTE_START);
      const lineEnd = this.#isPasting ? undefined : (/\r\n?|\n/.exec(text) ?? undefined);
      if (lineEnd !== undefined && (marker < 0 || lineEnd.index < marker)) {
        const before = text.slice(0, lineEnd.index);
        const last = (before === "" ? this.#last : before).at(-1);
        if (last === "\\" || last === ESCAPE) {
          editor += last === ESCAPE ? `${before.slice(0, -1)}${BREAK_BYTES}` : `${before}${BACKSPACE}${BREAK_BYTES}`;
          this.#last = "";
          text = text.slice(lineEnd.index + lineEnd[0].length);
          continue;
        }
        return { editor: `${editor}${text.slice(0, lineEnd.index)}\r`, rest: text.slice(lineEnd.index + lineEnd[0].length) };
      }
      const end = marker < 0 ? text.length - this.#unfinished(text) : marker;
      const piece = this.#isPasting ? pasted(text.slice(0, end)) : text.slice(0, end);
      editor += piece;
      // Enter behind a pasted backslash is Enter; so it is where an Escape came before by itself, which is a key.
      if (piece !== "") this.#last = this.#isPasting || piece.endsWith(ESCAPE) ? "" : piece;
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
