import { inspect } from "node:util";

/** Leaves room in an error's message of 4,096 characters for what is said around it. */
const LENGTH_MAX = 3_000;

/** What was thrown, with its stack and its causes, without the frames that are not the function's; bounded. */
export function describeThrown(thrown: unknown): string {
  return withoutOwnFrames(inspected(thrown)).slice(0, LENGTH_MAX).toWellFormed();
}

function inspected(thrown: unknown): string {
  try {
    return typeof thrown === "string" ? thrown : inspect(thrown, { depth: 2, breakLength: 120, maxArrayLength: 20, maxStringLength: 1_000 });
  } catch {
    // A getter or a proxy that throws while it is looked at.
    return "something that can't be shown";
  }
}

function withoutOwnFrames(text: string): string {
  const isForeign = (line: string): boolean => !/^\s+at .*(node:|\/function-child\.[jt]s)/.test(line);
  return text
    .split("\n")
    .filter(isForeign)
    .join("\n")
    .replaceAll(/file:\/\/\/[^\s)]+/g, asPath);
}

/** A path as people know it: a URL writes every space and umlaut as a code. */
function asPath(url: string): string {
  try {
    return decodeURI(url.slice("file://".length));
  } catch {
    // A text that only looks like a URL.
    return url;
  }
}
