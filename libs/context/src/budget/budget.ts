import type { ContextItem, ContextKind, ContextReport } from "./context-report.ts";
import { cutLines } from "./tokens.ts";

const BYTES_PER_TOKEN = 3;
/** Less of a text than this says nothing. */
const CUT_BYTES_MIN = 240;

/** A part of the budget that several texts have together. */
export interface Share {
  bytes: number;
}

/** Texts within a number of bytes: what comes first has its place, and what comes later is cut at a line or left out. */
export class Budget {
  readonly #bytesMax: number;
  #bytes = 0;
  readonly #items: ContextItem[] = [];
  readonly #texts = new Map<string, string>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Room for a text that is told if anything is. */
  reserve(text: string): void {
    this.#bytes += Buffer.byteLength(text);
  }

  share(ratio: number): Share {
    return { bytes: Math.floor(this.#bytesMax * ratio) };
  }

  /** Adds a text as `mark` marks it, or as many of its first lines as fit. */
  add(kind: ContextKind, source: string, text: string, mark: (text: string) => string, share?: Share, note?: string): void {
    const room = Math.min(this.#bytesMax - this.#bytes, share?.bytes ?? Number.POSITIVE_INFINITY);
    const overhead = Buffer.byteLength(mark("\n"));
    const whole = mark(text);
    const fits = Buffer.byteLength(whole) <= room;
    const shown = fits ? text : cutLines(text, room - overhead - CUT_NOTE.length);
    const bytes = Buffer.byteLength(text);
    if (!fits && Buffer.byteLength(shown) < Math.min(CUT_BYTES_MIN, bytes)) {
      this.#items.push({ kind, source, tokens: 0, bytes, state: "left out", note: note ?? "does not fit" });
      return;
    }
    const marked = fits ? whole : mark(`${shown}\n${CUT_NOTE}`);
    const used = Buffer.byteLength(marked);
    this.#bytes += used;
    if (share !== undefined) share.bytes -= used;
    this.#texts.set(keyOf(kind, source), marked);
    this.#items.push({ kind, source, tokens: tokensOf(used), bytes, state: fits ? "whole" : "cut", ...(note === undefined ? {} : { note }) });
  }

  addMedia(source: string, bytes: number): void {
    this.#items.push({ kind: "media", source, tokens: 0, bytes, state: "whole" });
  }

  leaveOut(kind: ContextKind, source: string, note: string): void {
    this.#items.push({ kind, source, tokens: 0, bytes: 0, state: "left out", note });
  }

  /** What is left for a text whose marks are `around`. */
  remainingTokens(around: string): number {
    return Math.max(0, Math.floor((this.#bytesMax - this.#bytes - Buffer.byteLength(around)) / BYTES_PER_TOKEN));
  }

  has(kind: ContextKind, source: string): boolean {
    return this.#texts.has(keyOf(kind, source));
  }

  textOf(kind: ContextKind, source: string): string | undefined {
    return this.#texts.get(keyOf(kind, source));
  }

  /** In the order in which they were added. */
  textsOf(kind: ContextKind): string[] {
    return [...this.#texts].filter(([key]) => key.startsWith(`${kind} `)).map(([, text]) => text);
  }

  report(isUsed: boolean): Pick<ContextReport, "budgetTokens" | "usedTokens" | "items"> {
    return { budgetTokens: tokensOf(this.#bytesMax), usedTokens: isUsed ? tokensOf(this.#bytes) : 0, items: this.#items };
  }
}

const CUT_NOTE = "[cut here: it does not fit into the context]";

function keyOf(kind: ContextKind, source: string): string {
  return `${kind} ${source}`;
}

function tokensOf(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}
