/** The programs that a command of sh names, or why that can't be told. */
export type ShellPrograms = { readonly programs: readonly string[] } | { readonly unclear: string };

/** After these a command follows. */
const RESERVED: ReadonlySet<string> = new Set(["!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "time"]);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const OPERATORS: ReadonlySet<string> = new Set([";", "&", "|", "\n", "(", ")"]);

/**
 * Reads a command as sh does, as far as it takes to find the words that name programs: at its start, after `;`, `&`, `|`, `(` and line ends, in `$(...)` and
 * in backticks. What it can't tell for sure (a name that is computed, a here-document, quotation marks without an end) it says so of. It doesn't see what a
 * program starts in turn.
 */
export function shellPrograms(command: string): ShellPrograms {
  const reader = new CommandReader(command);
  return reader.read();
}

class CommandReader {
  readonly #text: string;
  readonly #programs: string[] = [];
  #at = 0;
  #unclear: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ShellPrograms {
    this.#commands(undefined);
    if (this.#unclear === undefined && this.#at < this.#text.length) this.#unclear = "its parentheses don't match";
    return this.#unclear === undefined ? { programs: this.#programs } : { unclear: this.#unclear };
  }

  /** Commands up to the character that ends them, which is taken as well; undefined: to the end. */
  #commands(end: ")" | "`" | undefined): void {
    let isProgram = true;
    let isTarget = false;
    let depth = 0;
    while (this.#unclear === undefined && this.#at < this.#text.length) {
      const character = this.#text[this.#at] as string;
      if (character === end && depth === 0) {
        this.#at++;
        return;
      }
      if (character === " " || character === "\t") this.#at++;
      else if (character === "#") this.#comment();
      else if (character === "<" || character === ">") {
        this.#redirection();
        isTarget = true;
      } else if (OPERATORS.has(character)) {
        if (character === "(") depth++;
        // That of a pattern of `case` opens nowhere.
        if (character === ")" && depth > 0) depth--;
        this.#at++;
        isProgram = true;
        isTarget = false;
      } else {
        const start = this.#at;
        const word = this.#word(end);
        if (isTarget) isTarget = false;
        else if (isProgram && !ASSIGNMENT.test(this.#text.slice(start, this.#at))) isProgram = this.#program(word, end);
      }
    }
    if (end !== undefined) this.#unclear ??= `a ${end === ")" ? "$(" : "backtick"} has no end`;
  }

  /** Notes a program; whether another follows. */
  #program(word: string | undefined, end: string | undefined): boolean {
    if (word === undefined) {
      this.#unclear ??= "the name of a program is computed";
      return false;
    }
    if (RESERVED.has(word)) return true;
    // Its patterns' parentheses would end the substitution here, and not in sh.
    if (word === "case" && end !== undefined) this.#unclear ??= "it has a case in a substitution";
    this.#programs.push(word);
    return false;
  }

  #comment(): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#text.length : end;
  }

  #redirection(): void {
    const [operator = ""] = /^(?:<<|<&|<>|<\(|>>|>&|>\||>\(|<|>)/.exec(this.#text.slice(this.#at, this.#at + 2)) ?? [];
    if (operator === "<<") this.#unclear = "it has a here-document";
    if (operator.endsWith("(")) this.#unclear = "it has a process substitution";
    this.#at += operator.length;
  }

  /** A word without its quotation marks; undefined where it holds what is only known when it runs. */
  #word(end: string | undefined): string | undefined {
    const start = this.#at;
    let text = "";
    let isComputed = false;
    while (this.#unclear === undefined && this.#at < this.#text.length) {
      const character = this.#text[this.#at] as string;
      if (" \t<>".includes(character) || OPERATORS.has(character) || (character === "`" && end === "`")) break;
      if (character === "'") text += this.#quoted();
      else if (character === '"') {
        const quoted = this.#doubleQuoted(end);
        isComputed ||= quoted === undefined;
        text += quoted ?? "";
      } else if (character === "\\") text += this.#escaped();
      else if (character === "$" || character === "`") isComputed = this.#expansion() || isComputed;
      else {
        // A file's name may be a pattern's match.
        isComputed ||= "*?[~".includes(character);
        text += character;
        this.#at++;
      }
    }
    // The program of that name, and no pattern.
    return isComputed && this.#text.slice(start, this.#at) !== "[" ? undefined : text;
  }

  #quoted(): string {
    const close = this.#text.indexOf("'", this.#at + 1);
    if (close < 0) {
      this.#unclear = "a quotation mark has no end";
      return "";
    }
    const text = this.#text.slice(this.#at + 1, close);
    this.#at = close + 1;
    return text;
  }

  #doubleQuoted(end: string | undefined): string | undefined {
    let text = "";
    let isComputed = false;
    this.#at++;
    while (this.#unclear === undefined && this.#at < this.#text.length) {
      const character = this.#text[this.#at] as string;
      if (character === '"') {
        this.#at++;
        return isComputed ? undefined : text;
      }
      if (character === "\\") text += this.#escaped();
      else if (character === "`" && end === "`") break;
      else if (character === "$" || character === "`") isComputed = this.#expansion() || isComputed;
      else {
        text += character;
        this.#at++;
      }
    }
    this.#unclear ??= "a quotation mark has no end";
    return undefined;
  }

  #escaped(): string {
    const next = this.#text[this.#at + 1] ?? "";
    // Inside of backticks this begins others.
    if (next === "`") this.#unclear = "a backtick is escaped";
    this.#at += 2;
    return next === "\n" ? "" : next;
  }

  /** Takes what stands for something else; whether it does. */
  #expansion(): boolean {
    if (this.#text[this.#at] === "`") {
      this.#at++;
      this.#commands("`");
      return true;
    }
    const next = this.#text[this.#at + 1] ?? "";
    this.#at++;
    if (next === "'") this.#unclear = "it has a $'...'";
    if (next === "{") this.#unclear = "it has a ${...}";
    if (next === "(") {
      this.#at++;
      this.#commands(")");
    }
    return true;
  }
}
