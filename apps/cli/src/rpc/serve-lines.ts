import type { Readable, Writable } from "node:stream";
import { type Line, readLines } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Caller } from "./caller.ts";
import { Calls } from "./calls.ts";
import { LineOutput } from "./line-output.ts";
import { parseRequest } from "./request.ts";

export interface ServeLinesOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly caller: Caller;
  /** Ends it at once: open calls are answered with `cancelled`. */
  readonly signal: AbortSignal;
}

/** An artifact of 16 MiB as base64, and its envelope: what the server takes as JSON. */
export const LINE_BYTES_MAX = 22 * 1024 * 1024;

/** Answers each line of the input by lines of the output, until the input ends and every call is answered. */
export async function serveLines({ input, output: stream, caller, signal }: ServeLinesOptions): Promise<void> {
  const output = new LineOutput(stream);
  const calls = new Calls(caller, output);
  const lines = readLines(input, LINE_BYTES_MAX);
  const stopped = new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
  for (;;) {
    const next = signal.aborted ? undefined : await Promise.race([lines.next(), stopped]);
    if (next === undefined || next.done === true) break;
    handle(next.value, calls, output);
    // A caller who does not read his answers is not listened to.
    await output.ready(signal);
  }
  signal.addEventListener("abort", () => calls.cancelAll());
  if (signal.aborted) calls.cancelAll();
  await calls.end();
}

function handle(line: Line, calls: Calls, output: LineOutput): void {
  if (line.kind !== "text") {
    calls.refuse(null, unreadable(line.kind));
    return;
  }
  if (line.text.trim() === "") return;
  const request = parseRequest(line.text);
  if (request.kind === "refused") calls.refuse(request.id, request.error);
  else if (request.kind === "call") calls.begin(request);
  else {
    calls.cancel(request.target);
    if (request.id !== undefined) output.write({ id: request.id, result: {} });
  }
}

function unreadable(kind: Exclude<Line["kind"], "text">): ForgeError {
  if (kind === "notUtf8") return ForgeError.validation("", "the line is no UTF-8", { reason: "PARSE" });
  return new ForgeError(ErrorCode.RESOURCE_EXHAUSTED, `the line has more than ${LINE_BYTES_MAX} bytes`, { reason: "LINE_TOO_LONG", retryable: false });
}
