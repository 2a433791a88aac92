/** An `@name` in a text, which may or may not be a file. */
export interface Mention {
  /** As it is written, with the `@`. */
  readonly written: string;
  /** What may be a path: as written, and with less and less of the punctuation at its end. The first that exists is meant. */
  readonly candidates: readonly MentionedPath[];
  /** Between quotation marks: a path for certain. */
  readonly isQuoted: boolean;
  /** A `(` follows, as behind a decorator with arguments. */
  readonly isCall: boolean;
}

/** A path, and the lines of it that are meant; both from 1 and inclusive. */
export interface MentionedPath {
  readonly path: string;
  readonly lines?: { readonly start: number; readonly end: number };
}

/** More are not looked at. */
export const MENTIONS_MAX = 200;
const CANDIDATES_MAX = 8;

// Not behind a letter, as in an address, nor behind what a path or another mention ends with.
const MENTION = /(?<![\p{L}\p{N}_.\-/@`])@(?:"([^"\n]{1,1024})"(:\d{1,7}(?:-\d{1,7})?)?|([^\s"'`<>(){}[\]|,;@]{1,1024}))/gu;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LINES = /^(.+?)(?::(\d{1,7})(?:-(\d{1,7}))?|#L(\d{1,7})(?:-L?(\d{1,7}))?)$/;

/** The mentions of a text, in order; what is in code, a fenced block or between backticks, is none. */
export function findMentions(text: string): Mention[] {
  const mentions: Mention[] = [];
  for (const match of withoutCode(text).matchAll(MENTION)) {
    if (mentions.length === MENTIONS_MAX) break;
    const [written, inQuotes, lines, bare = ""] = match;
    const isCall = text[match.index + written.length] === "(";
    if (inQuotes !== undefined) mentions.push({ written, candidates: [withLines(inQuotes + (lines ?? ""))], isQuoted: true, isCall: false });
    else mentions.push({ written, candidates: candidatesOf(bare), isQuoted: false, isCall });
  }
  return mentions;
}

function candidatesOf(bare: string): MentionedPath[] {
  const candidates: MentionedPath[] = [];
  for (let path = bare; path !== "" && candidates.length < CANDIDATES_MAX; path = path.slice(0, -1)) {
    const parsed = withLines(path);
    if (parsed.lines !== undefined) candidates.push(parsed);
    candidates.push({ path });
    if (!/[.:!?*_…。、，]$/u.test(path)) break;
  }
  return candidates;
}

function withLines(text: string): MentionedPath {
  const match = LINES.exec(text);
  if (match === null) return { path: text };
  const start = Number(match[2] ?? match[4]);
  return { path: match[1] as string, lines: { start, end: Number(match[3] ?? match[5] ?? start) } };
}

/** The text with its code blanked out, so that all else stays where it is. */
function withoutCode(text: string): string {
  let fence = "";
  const lines = text.split("\n").map((line) => {
    const mark = FENCE.exec(line)?.[1] ?? "";
    if (fence === "" && mark !== "") fence = mark;
    else if (fence !== "" && mark.startsWith(fence)) fence = "";
    else if (fence === "") return line;
    return " ".repeat(line.length);
  });
  // A code span ends with as many backticks as it begins with, and not on another paragraph's line.
  return lines.join("\n").replaceAll(/(?<!`)(`{1,8})(?!`)[^\n]*?(?<!`)\1(?!`)/g, (span) => " ".repeat(span.length));
}
