// The process that functions run in: it answers one request at a time on the channel, and leaves standard output and error to the functions.
import { AsyncLocalStorage } from "node:async_hooks";
import { registerHooks } from "node:module";
import { Socket } from "node:net";
import { fileURLToPath, pathToFileURL } from "node:url";
import { jsonProblem } from "@forge/worker/json-problem";
import { type CallRequest, CHANNEL_DESCRIPTOR, type ChildError, type DiscoverRequest, sourceStamp } from "./child-protocol.ts";
import { describeThrown } from "./describe-thrown.ts";
import { encodeFrame, frameReader } from "./frames.ts";

/** What an artifact may hold. */
const RESULT_BYTES_MAX = 16 * 1024 * 1024;

type Inputs = Record<string, unknown>;

interface ActiveCall {
  readonly abort: AbortController;
  /** Answers; only the first answer counts. */
  answer(kind: "R" | "E", payload: string): void;
}

const channel = new Socket({ fd: CHANNEL_DESCRIPTOR });
const calls = new AsyncLocalStorage<ActiveCall>();
let active: ActiveCall | undefined;
let loaded: [path: string, stamp: string][] = [];

registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith("file:") && !url.includes("/node_modules/")) {
      const path = fileURLToPath(url);
      // Before it is read: a change in between is then seen as a change.
      loaded.push([path, sourceStamp(path)]);
    }
    return nextLoad(url, context);
  },
});

process.on("uncaughtException", (error) => blame(error));
process.on("unhandledRejection", (error) => blame(error));
// The worker has gone.
channel.on("error", () => process.exit(0));
channel.on("close", () => process.exit(0));
channel.on(
  "data",
  frameReader((kind, payload) => {
    if (kind === "C") void call(JSON.parse(payload) as CallRequest & { inputs: Inputs });
    if (kind === "D") void discover(JSON.parse(payload) as DiscoverRequest);
    if (kind === "A") active?.abort.abort(new DOMException(payload, "AbortError"));
  }),
);

async function call({ file, name, context, inputs }: CallRequest & { inputs: Inputs }): Promise<void> {
  const current = begin();
  try {
    const found = (await load(file))[name];
    if (typeof found !== "function") throw new Refusal("missing", `${file} exports no function ${name}`);
    const result: unknown = await calls.run(current, async () =>
      (found as (inputs: Inputs, context: object) => unknown)(inputs, {
        ...context,
        signal: current.abort.signal,
        heartbeat: () => channel.write(encodeFrame("H", "")),
      }),
    );
    const problem = jsonProblem(result);
    if (problem !== undefined) throw new Refusal("result", problem);
    const json = JSON.stringify(result);
    const bytes = Buffer.byteLength(json);
    if (bytes > RESULT_BYTES_MAX) throw new Refusal("result", `the result has ${bytes} bytes, more than ${RESULT_BYTES_MAX}`);
    current.answer("R", json);
  } catch (error) {
    fail(current, error);
  }
}

async function discover({ file }: DiscoverRequest): Promise<void> {
  const current = begin();
  try {
    const exports = await load(file);
    const names = Object.keys(exports).filter((name) => name !== "default" && !name.startsWith("_") && isPlainFunction(exports[name]));
    current.answer("R", JSON.stringify(names));
  } catch (error) {
    fail(current, error);
  }
}

function begin(): ActiveCall {
  let answered = false;
  const current: ActiveCall = {
    abort: new AbortController(),
    answer(kind, payload) {
      if (answered) return;
      answered = true;
      if (active === current) active = undefined;
      if (loaded.length > 0) channel.write(encodeFrame("S", JSON.stringify(loaded)));
      loaded = [];
      channel.write(encodeFrame(kind, payload));
    },
  };
  active = current;
  return current;
}

/** Imports a file; the module system keeps it, so that the second call is cheap. */
async function load(file: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    throw new Refusal("load", describeThrown(error));
  }
}

/** Classes are functions as well, but can't be called. */
function isPlainFunction(value: unknown): boolean {
  return typeof value === "function" && !/^class\b/.test(Function.prototype.toString.call(value));
}

function fail(current: ActiveCall, error: unknown): void {
  const answer: ChildError = error instanceof Refusal ? { kind: error.kind, message: error.message } : { kind: "threw", message: describeThrown(error) };
  current.answer("E", JSON.stringify(answer));
}

/** Something threw that nobody awaited: it is the fault of the call that began it, where that is known and still runs. */
function blame(error: unknown): void {
  const guilty = calls.getStore() ?? active;
  const message = describeThrown(error);
  if (guilty !== undefined && guilty === active) guilty.answer("E", JSON.stringify({ kind: "uncaught", message } satisfies ChildError));
  else process.stderr.write(`left behind by an earlier call: ${message}\n`);
}

class Refusal extends Error {
  readonly kind: ChildError["kind"];

  constructor(kind: ChildError["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}
