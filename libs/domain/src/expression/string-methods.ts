import type { JsonValue } from "@bufbuild/protobuf";
import type { MethodName } from "./expression.ts";
import { checkListLength, checkTextLength } from "./operators.ts";
import { codePointCount, unitOffset } from "./text-offsets.ts";
import { asInteger, typeName } from "./values.ts";
import type { Work } from "./work.ts";

/** How many arguments each method takes. */
export const METHOD_ARITY: ReadonlyMap<MethodName, readonly [min: number, max: number]> = new Map([
  ["lower", [0, 0]],
  ["upper", [0, 0]],
  ["strip", [0, 1]],
  ["lstrip", [0, 1]],
  ["rstrip", [0, 1]],
  ["startswith", [1, 2]],
  ["endswith", [1, 1]],
  ["split", [0, 2]],
  ["join", [1, 1]],
  ["replace", [2, 3]],
  ["find", [1, 2]],
  ["count", [1, 1]],
]);

/** What Python's strip and split take as white space. */
const WHITE_SPACE = new Set(
  "\t\n\v\f\r\u001c\u001d\u001e\u001f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
);

/** Calls a method of a string, with Python's meaning; offsets count code points. */
export function callMethod(text: string, name: MethodName, values: readonly JsonValue[], work: Work): JsonValue {
  work.spendText(text.length);
  const [first, second, third] = values;
  switch (name) {
    case "lower":
      return made(text.toLowerCase(), work);
    case "upper":
      return made(text.toUpperCase(), work);
    case "strip":
      return strip(text, first, true, true, work);
    case "lstrip":
      return strip(text, first, true, false, work);
    case "rstrip":
      return strip(text, first, false, true, work);
    case "startswith": {
      const rest = second === undefined ? text : text.slice(unitOffset(text, asInteger(second, "the start", work)));
      return prefixes(first as JsonValue, work).some((prefix) => rest.startsWith(prefix));
    }
    case "endswith":
      return prefixes(first as JsonValue, work).some((suffix) => text.endsWith(suffix));
    case "split":
      return split(text, first ?? null, second === undefined ? -1 : asInteger(second, "the number of splits", work), work);
    case "join":
      return join(text, first as JsonValue, work);
    case "replace":
      return replace(text, asText(first, work), asText(second, work), third === undefined ? -1 : asInteger(third, "the number of replacements", work), work);
    case "find": {
      const from = second === undefined ? 0 : unitOffset(text, asInteger(second, "the start", work));
      const part = asText(first, work);
      work.spendSearch(text, part);
      const unit = text.indexOf(part, from);
      return unit < 0 ? -1 : codePointCount(text.slice(0, unit));
    }
    case "count": {
      const part = asText(first, work);
      return part === "" ? codePointCount(text) + 1 : countOf(text, part, work);
    }
  }
}

function made(text: string, work: Work): string {
  checkTextLength(text.length, work);
  return text;
}

function asText(value: JsonValue | undefined, work: Work): string {
  if (typeof value !== "string") work.fail(`expected a string, not ${typeName(value ?? null)}`);
  return value;
}

/** One prefix, or several, as Python takes a tuple of them. */
function prefixes(value: JsonValue, work: Work): string[] {
  const list = Array.isArray(value) ? value : [value];
  work.spend(list.length);
  return list.map((item) => asText(item, work));
}

function strip(text: string, characters: JsonValue | undefined, atStart: boolean, atEnd: boolean, work: Work): string {
  const set = characters === undefined || characters === null ? WHITE_SPACE : new Set(asText(characters, work));
  let [start, end] = [0, text.length];
  while (atStart && start < end) {
    const character = String.fromCodePoint(text.codePointAt(start) as number);
    if (!set.has(character)) break;
    start += character.length;
  }
  while (atEnd && end > start) {
    const isPair = end - start > 1 && (text.codePointAt(end - 2) as number) > 0xffff;
    const character = text.slice(end - (isPair ? 2 : 1), end);
    if (!set.has(character)) break;
    end -= character.length;
  }
  return text.slice(start, end);
}

/** How often a text stands in another, without overlaps. */
function countOf(text: string, part: string, work: Work): number {
  work.spendSearch(text, part);
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    work.spend(1);
    count++;
  }
  return count;
}

/** Splits at a separator, at most `limit` times; negative: always. */
function pieces(text: string, separator: string, limit: number, work: Work): string[] {
  work.spendSearch(text, separator);
  const parts: string[] = [];
  let from = 0;
  for (;;) {
    const at = limit >= 0 && parts.length >= limit ? -1 : text.indexOf(separator, from);
    if (at < 0) break;
    parts.push(text.slice(from, at));
    checkListLength(parts.length, work, 1);
    from = at + separator.length;
  }
  parts.push(text.slice(from));
  return parts;
}

function split(text: string, separator: JsonValue, limit: number, work: Work): string[] {
  if (separator !== null) {
    const by = asText(separator, work);
    if (by === "") work.fail("an empty separator");
    return pieces(text, by, limit, work);
  }
  const words: string[] = [];
  let start = -1;
  for (let index = 0; index <= text.length; index++) {
    const isSpace = index === text.length || WHITE_SPACE.has(text[index] as string);
    if (isSpace && start >= 0) {
      words.push(text.slice(start, index));
      checkListLength(words.length, work, 1);
      start = -1;
    } else if (!isSpace && start < 0) {
      start = index;
      if (limit >= 0 && words.length >= limit) return [...words, text.slice(start)];
    }
  }
  return words;
}

function join(separator: string, values: JsonValue, work: Work): string {
  if (!Array.isArray(values)) work.fail(`join needs a list, not ${typeName(values)}`);
  work.spend(values.length);
  const texts = values.map((value) => asText(value, work));
  checkTextLength(
    texts.reduce((length, text) => length + text.length + separator.length, 0),
    work,
  );
  return texts.join(separator);
}

function replace(text: string, old: string, replacement: string, limit: number, work: Work): string {
  if (old === "") work.fail("an empty text to replace");
  const count = countOf(text, old, work);
  const times = limit < 0 ? count : Math.min(limit, count);
  checkTextLength(text.length + times * (replacement.length - old.length), work);
  // A function, so that `$&` in the replacement stays what it is.
  return times === count ? text.replaceAll(old, () => replacement) : pieces(text, old, times, work).join(replacement);
}
