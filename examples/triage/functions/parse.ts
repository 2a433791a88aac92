import { type Frame, readFrames } from "./_frames.ts";
import { searchPattern } from "./_search-pattern.ts";

/** What is known of a bug report without understanding it. */
export interface ParsedReport {
  title: string;
  /** The title as a file's name: ASCII letters, digits and hyphens. */
  slug: string;
  /** The report's beginning, at most 8,000 characters, with plain line ends. */
  excerpt: string;
  frames: Frame[];
  versions: Record<string, string>;
  environment: Record<string, string>;
  /** A regular expression that matches the names to look for in the code. */
  search_pattern: string;
}

const EXCERPT_LENGTH_MAX = 8000;
const TITLE_LENGTH_MAX = 120;
const LINES_MAX = 5000;
const ENTRIES_MAX = 30;

const PRODUCT_VERSION = /\b(Chrome|Firefox|Safari|Edge|Node(?:\.js)?|Python|Java|Windows|macOS|iOS|Android|Ubuntu|Debian)[ /]v?(\d+(?:\.\d+){0,3})/g;
const APP_VERSION = /(?:\bversion|\brelease|\bbuild|バージョン|版本|버전)\s*[:：=]?\s*v?(\d+(?:\.\d+){1,3}(?:-[\w.]+)?)/iu;
const FIELD = /^\s*(?:[-*]\s+)?\**(OS|Operating system|Browser|Device|Environment|Platform|Locale|環境|ブラウザ|端末)\**\s*[:：]\**\s*(\S.*)$/iu;

/** Takes a bug report apart: title, stack frames, versions, environment. Any text will do, also one that reports nothing. */
export function parse_report({ issue }: { issue: string }): ParsedReport {
  const text = issue
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .trim();
  const lines = text.split("\n", LINES_MAX);
  const title = readTitle(lines);
  const frames = readFrames(lines);
  return {
    title,
    slug: slugOf(title),
    excerpt: cut(text, EXCERPT_LENGTH_MAX),
    frames,
    versions: readVersions(text.slice(0, 100_000)),
    environment: readEnvironment(lines),
    search_pattern: searchPattern(frames, text.slice(0, EXCERPT_LENGTH_MAX), title),
  };
}

/** A heading, a `Title:` line, or the first line with a letter in it. */
function readTitle(lines: string[]): string {
  const named =
    lines.find((line) => /^#{1,3}\s+\S/.test(line)) ??
    lines.find((line) => /^\s*\**(?:title|subject|件名|タイトル)\**\s*[:：]/iu.test(line)) ??
    lines.find((line) => /\p{L}/u.test(line));
  const plain = (named ?? "").replace(/^#{1,3}\s+/, "").replace(/^\s*\**(?:title|subject|件名|タイトル)\**\s*[:：]\**\s*/iu, "");
  return cut(plain.replace(/\s+/g, " ").trim(), TITLE_LENGTH_MAX) || "Untitled report";
}

/** Titles in other scripts get a name from their characters' sum, so that different ones rarely meet. */
function slugOf(title: string): string {
  const words =
    title
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const slug = words.join("-").slice(0, 60).replace(/-+$/, "");
  const isFaithful = slug.length >= 3 && slug.length * 2 >= Array.from(title).length;
  if (isFaithful) return slug;
  let sum = 0x811c9dc5;
  for (const character of title) sum = Math.imul(sum ^ (character.codePointAt(0) as number), 0x01000193) >>> 0;
  return `report-${sum.toString(16).padStart(8, "0")}`;
}

function readVersions(text: string): Record<string, string> {
  const versions: Record<string, string> = {};
  const app = APP_VERSION.exec(text)?.[1];
  if (app !== undefined) versions["app"] = app;
  for (const [, product, version] of text.matchAll(PRODUCT_VERSION)) {
    if (Object.keys(versions).length < ENTRIES_MAX && product !== undefined && version !== undefined) versions[product.toLowerCase()] ??= version;
  }
  return versions;
}

function readEnvironment(lines: string[]): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line.slice(0, 400)) ?? [];
    if (name !== undefined && value !== undefined && Object.keys(environment).length < ENTRIES_MAX) environment[name.toLowerCase()] ??= cut(value.trim(), 200);
  }
  return environment;
}

/** The first characters of a text, never half of one. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = /[\uD800-\uDBFF]/.test(text[length - 1] ?? "") ? length - 1 : length;
  return text.slice(0, end);
}
