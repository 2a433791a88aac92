import { nearest as nearestName } from "@forge/domain/nearest";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { YamlSource } from "./yaml-source.ts";

/** Problems written out; a file with more of them is shown the first and told how many remain. */
const LISTED_MAX = 20;

/** Names listed as expected. */
const EXPECTED_MAX = 20;

/** The bound of an error's message. */
const MESSAGE_LENGTH_MAX = 4096;

interface Problem {
  readonly text: string;
  readonly isUnsupported: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Collects everything that is wrong with one file, each with file, line and column, so that a person sees all of it at once. */
export class Problems {
  readonly warnings: string[] = [];
  readonly #source: YamlSource;
  readonly #reason: string;
  readonly #problems: Problem[] = [];
  #unlisted = 0;

  constructor(source: YamlSource, reason: string) {
    this.#source = source;
    this.#reason = reason;
  }

  /** Whether anything is wrong so far. */
  get any(): boolean {
    return this.#problems.length > 0;
  }

  /** Something is wrong at an offset of the file. */
  add(offset: number, message: string, isUnsupported = false): void {
    if (this.#isFull()) return;
    const { line, column } = this.#source.position(offset);
    const text = `${this.#source.file}:${line}:${column}: ${message}`;
    // What is read twice is wrong once.
    if (this.#problems.some((problem) => problem.text === text)) return;
    this.#problems.push({ text, isUnsupported, metadata: { file: this.#source.file, line: String(line), column: String(column) } });
  }

  /** Something is right, and not built. */
  addUnsupported(offset: number, message: string): void {
    this.add(offset, message, true);
  }

  /** A name that is none of those expected; says which is nearest. */
  addUnknown(offset: number, what: string, name: string, candidates: Iterable<string>): void {
    if (this.#isFull(false)) {
      this.#unlisted++;
      return;
    }
    this.add(offset, unknownName(what, name, candidates));
  }

  /** The problems of another file that this one needs. */
  addFrom(error: ForgeError): void {
    if (this.#isFull()) return;
    this.#problems.push({ text: error.message, isUnsupported: error.code === ErrorCode.UNSUPPORTED, metadata: error.detail.metadata });
  }

  /** Something is odd at an offset, and nothing fails because of it. */
  warn(offset: number, message: string): void {
    const { line, column } = this.#source.position(offset);
    if (this.warnings.length < LISTED_MAX) this.warnings.push(`${this.#source.file}:${line}:${column}: ${message}`);
  }

  /** Throws one ForgeError for all of it: `validation`, or `unsupported` when nothing is wrong and something is not built. */
  throwIfAny(): void {
    const first = this.#problems[0];
    if (first === undefined) return;
    const lines = this.#problems.map(({ text }) => text);
    if (this.#unlisted > 0) lines.push(`and ${this.#unlisted} more`);
    const message = lines.join("\n");
    const code = this.#problems.every(({ isUnsupported }) => isUnsupported) ? ErrorCode.UNSUPPORTED : ErrorCode.VALIDATION;
    throw new ForgeError(code, message.length > MESSAGE_LENGTH_MAX ? `${message.slice(0, MESSAGE_LENGTH_MAX - 1)}…` : message, {
      reason: this.#reason,
      metadata: { ...first.metadata, problems: String(this.#problems.length + this.#unlisted) },
    });
  }

  #isFull(countIt = true): boolean {
    const isFull = this.#problems.length >= LISTED_MAX;
    if (isFull && countIt) this.#unlisted++;
    return isFull;
  }
}

/** "unknown key `x`; expected one of a, b; did you mean `a`?" */
export function unknownName(what: string, name: string, candidates: Iterable<string>): string {
  const known = Array.from(candidates);
  const nearest = nearestName(name, known);
  const shown = known.length === 0 ? "; there are none" : `; expected ${listNames(known)}`;
  return `unknown ${what} \`${clip(name)}\`${shown}${nearest === undefined ? "" : `; did you mean \`${nearest}\`?`}`;
}

function listNames(names: readonly string[]): string {
  if (names.length === 1) return names[0] as string;
  const more = names.length > EXPECTED_MAX ? `, … (${names.length})` : "";
  return `one of ${names.slice(0, EXPECTED_MAX).join(", ")}${more}`;
}

/** A text from the file, short enough for a message. */
export function clip(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
