import { isReservedName } from "@forge/domain";
import { clip, type Problems } from "../yaml/problems.ts";

/** A name, and where it stands. */
interface Named {
  readonly text: string;
  readonly offset: number;
}

/** Characters of any name. */
export const NAME_LENGTH_MAX = 128;

const ID = /^[A-Za-z0-9_-]+$/;
const KEY = /^[\p{L}_][\p{L}\p{N}_-]*$/u;
const FUNCTION = /^(?:[A-Za-z0-9_-]+\.)*[A-Za-z_][A-Za-z0-9_]*$/;
const TOOL = /^[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/;

/** An id of a workflow, step or agent: it stands in paths, file names and the store. */
export function checkId<T extends Named>(problems: Problems, what: string, id: T | undefined): T | undefined {
  return check(problems, what, id, ID, "letters, digits, `_` and `-`");
}

/** A name of an input or output: it stands in state paths, so no dots. */
export function checkKey<T extends Named>(problems: Problems, what: string, key: T | undefined): T | undefined {
  return check(problems, what, key, KEY, "a letter or `_`, then letters, digits, `_` and `-`");
}

/** A function's qualified name. */
export function checkFunctionName<T extends Named>(problems: Problems, name: T | undefined): T | undefined {
  return check(problems, "function", name, FUNCTION, "module.function, for example parse.parse_report");
}

/** A tool's name. */
export function checkToolName<T extends Named>(problems: Problems, name: T | undefined): T | undefined {
  return check(problems, "tool", name, TOOL, "a dotted name, for example tools.search");
}

function check<T extends Named>(problems: Problems, what: string, name: T | undefined, pattern: RegExp, expected: string): T | undefined {
  if (name === undefined) return undefined;
  if (name.text.length <= NAME_LENGTH_MAX && pattern.test(name.text) && !name.text.split(".").some(isReservedName)) return name;
  problems.add(name.offset, `${what} \`${clip(name.text)}\` is no valid name; expected ${expected}`);
  return undefined;
}
