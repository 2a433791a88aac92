/** Without a meaning of their own to any shell, wherever they stand in a word. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]$/;
/** In double quotation marks these are not themselves, and `!` not to every shell. */
const ACTIVE_IN_QUOTES = /[$`\\!]/;
/** Words that don't name a program where one is expected. */
const RESERVED = new Set([
  "!",
  "case",
  "coproc",
  "do",
  "done",
  "elif",
  "else",
  "esac",
  "fi",
  "for",
  "function",
  "if",
  "in",
  "select",
  "then",
  "time",
  "until",
  "while",
]);

/**
 * The words of a command that is nothing but literal words, which every shell reads alike; undefined for all others: with an operator, a line end, an expansion,
 * a pattern, a redirection, an assignment, a comment or an escape in it, or a word that a shell keeps for itself in the first place. It is deliberately not a
 * parser: what it doesn't know is no simple command.
 */
export function literalWords(command: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < command.length; at++) {
    const character = command[at] as string;
    if (character === " " || character === "\t") {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "'" || character === '"') {
      const end = command.indexOf(character, at + 1);
      const text = command.slice(at + 1, end);
      if (end < 0 || /[\n\r\0]/.test(text) || (character === '"' && ACTIVE_IN_QUOTES.test(text))) return undefined;
      word = (word ?? "") + text;
      at = end;
    } else {
      if (!PLAIN.test(character)) return undefined;
      word = (word ?? "") + character;
    }
  }
  if (word !== undefined) words.push(word);
  const [first = ""] = words;
  return first === "" || first.includes("=") || RESERVED.has(first) ? undefined : words;
}
