import type { Frame } from "./_frames.ts";

const NAMES_MAX = 6;

/** Names that every program has. */
const COMMON = new Set(["anonymous", "main", "run", "init", "get", "set", "map", "then", "apply", "call", "next", "default", "module"]);

/** Matches nothing. */
const NOTHING = "(?!)";

/**
 * A regular expression for the names to look for: the functions of the stack trace, the innermost first; else what stands in backquotes; else the title's
 * longest words. Names are matched whole.
 */
export function searchPattern(frames: readonly Frame[], text: string, title: string): string {
  const candidates = [functionNames(frames), quotedNames(text), longWords(title)];
  const names = candidates.find((list) => list.length > 0) ?? [];
  if (names.length === 0) return NOTHING;
  // They hold letters, digits and _ only, so nothing is to be escaped; \b knows ASCII only, so that the edges of other words are left open.
  return names.map((name) => (/^\w+$/.test(name) ? `\\b${name}\\b` : name)).join("|");
}

function functionNames(frames: readonly Frame[]): string[] {
  return distinct(frames.map((frame) => frame.function.split(/[.\s#$/]/).findLast((part) => /^[A-Za-z]\w{2,60}$/.test(part))));
}

function quotedNames(text: string): string[] {
  return distinct(Array.from(text.matchAll(/`([A-Za-z]\w{2,60})(?:\(\))?`/g), (match) => match[1]));
}

function longWords(title: string): string[] {
  const words = title.match(/[\p{L}\p{N}_]{4,60}/gu) ?? [];
  return distinct(words.toSorted((a, b) => b.length - a.length)).slice(0, 3);
}

function distinct(names: readonly (string | undefined)[]): string[] {
  const useful = names.filter((name): name is string => name !== undefined && !COMMON.has(name));
  return Array.from(new Set(useful)).slice(0, NAMES_MAX);
}
