import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ForgeError } from "@forge/protocol";

const MESSAGE_LENGTH_MAX = 3_000;
const CHECK_MS_MAX = 10_000;

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

/** Why a file could not be imported, with the place in it or in what it imports. */
export function explainImport(file: string, thrown: unknown, loaded: readonly string[]): ForgeError {
  // A refused definition says by itself what is wrong.
  const message = thrown instanceof ForgeError ? thrown.message : thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  const stack = thrown instanceof Error ? (thrown.stack ?? "") : "";
  const place = syntaxPlace(stack) ?? (thrown instanceof SyntaxError ? checkedPlace(loaded) : undefined) ?? framePlace(stack, loaded);
  const { field } = thrown instanceof ForgeError ? thrown.detail.metadata : {};
  return refusal(place?.file ?? file, message, {
    ...(field === undefined ? {} : { field }),
    ...(place === undefined ? {} : { line: String(place.line) }),
    ...(place?.column === undefined ? {} : { column: String(place.column) }),
  });
}

export function noDefinition(file: string): ForgeError {
  return refusal(
    file,
    "it exports nothing to serve: export what defineTool, defineFunction and defineProvider return, one by one or as the default export",
    {},
  );
}

function refusal(file: string, message: string, metadata: Readonly<Record<string, string>>): ForgeError {
  const { line, column } = metadata;
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  return ForgeError.validation("file", `${place}: ${message}`.slice(0, MESSAGE_LENGTH_MAX).toWellFormed(), {
    reason: "WORKER_FILE",
    origin: "worker",
    metadata: { file, ...metadata },
  });
}

/** What a syntax error says before its name: the place, the line, and marks below what is wrong. */
function syntaxPlace(text: string): Place | undefined {
  const [first = "", ...rest] = text.split("\n", 8);
  const marks = rest.find((line) => /^\s*\^+\s*$/.test(line)) ?? "";
  const match = /^((?:file:\/\/)?\/.+):(\d+)$/.exec(first);
  if (match === null) return undefined;
  const column = marks.indexOf("^");
  return { file: asPath(match[1] as string), line: Number(match[2]), ...(column < 0 ? {} : { column: column + 1 }) };
}

/** The engine tells the place of a syntax error only to whoever runs the file: it is run to be checked, the one read last first. */
function checkedPlace(loaded: readonly string[]): Place | undefined {
  for (const path of loaded.toReversed()) {
    const { status, stderr } = spawnSync(process.execPath, ["--check", path], { encoding: "utf8", timeout: CHECK_MS_MAX });
    if (status !== 0) return syntaxPlace(stderr);
  }
  return undefined;
}

/** The innermost line of the code that was loaded. */
function framePlace(stack: string, loaded: readonly string[]): Place | undefined {
  for (const [, url = "", line, column] of stack.matchAll(/(file:\/\/\/[^\s)]+|\/[^\s):]+):(\d+):(\d+)\)?$/gm)) {
    const file = asPath(url);
    if (loaded.includes(file)) return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

function asPath(url: string): string {
  return url.startsWith("file:") ? fileURLToPath(url) : url;
}
