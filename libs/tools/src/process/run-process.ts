import { setTimeout as delay } from "node:timers/promises";
import type { Scrubber } from "../secrets/scrubber.ts";
import { BoundedOutput, type CapturedOutput } from "./bounded-output.ts";
import type { Enclosure } from "./enclosure.ts";
import { childEnvironment } from "./environment.ts";
import { exitSignal } from "./exit-signal.ts";
import type { Isolation } from "./isolation.ts";
import { type ProcessTree, startProcessTree } from "./process-tree.ts";
import { systemProgram } from "./system-program.ts";
import { within } from "./within.ts";

/** Between SIGTERM and SIGKILL: enough for a program to remove its temporary files, and short for a person who waits for a cancel. */
const GRACE_MS = 2_000;
/** Of each stream; both together stay inside what a model is shown of one call. */
const OUTPUT_BYTES_MAX = 32 * 1024;
/** How long a stream may stay open after the tree has ended; longer means that a process outside of it holds the pipe. */
const DRAIN_MS = 2_000;

/** What to run and for how long. */
export interface RunProcessOptions {
  /** An argument vector, or a text that `sh -c` runs. */
  readonly command: readonly string[] | string;
  readonly cwd: string;
  /** Added to the allow-listed variables; see childEnvironment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Written to the standard input, which is then closed. Absent: the null device, so that a command that reads ends instead of hanging. */
  readonly stdin?: string | Uint8Array;
  /** Absent: no limit but the signal. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Between SIGTERM and SIGKILL; absent: 2 s. */
  readonly graceMs?: number;
  /** Of each stream, how much is kept, head and tail; absent: 32 KiB. */
  readonly outputBytesMax?: number;
  /** Everything that is printed, as it comes: UTF-8 decoded, characters never split. */
  readonly onOutput?: (text: string, stream: "stdout" | "stderr") => void;
  /** Absent: the strongest that works here. */
  readonly isolation?: Isolation;
  /** Absent: the command sees what this process sees. */
  readonly enclosure?: Enclosure;
  /** Takes secrets out of what is printed, before anybody sees it. */
  readonly scrubber?: Scrubber;
}

/** How it ended. */
export interface ProcessResult {
  readonly ended: "exited" | "timed_out" | "aborted";
  /** Null when the first process was ended by a signal, or never started. */
  readonly exitCode: number | null;
  /** The signal that ended it, also where the exit code tells it by the shell's convention (128 + number). */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: CapturedOutput;
  readonly stderr: CapturedOutput;
  readonly durationMs: number;
  /** False where it could not be made sure that nothing of the process tree is left. */
  readonly confirmedStopped: boolean;
}

/**
 * Runs a command and resolves when nothing of it is left, descendants in the background included. A non-zero exit is a result. Rejects only when the
 * process could not be spawned at all.
 */
export async function runProcess(options: RunProcessOptions): Promise<ProcessResult> {
  const startedAt = performance.now();
  const outputBytesMax = options.outputBytesMax ?? OUTPUT_BYTES_MAX;
  const stdout = new BoundedOutput(outputBytesMax);
  const stderr = new BoundedOutput(outputBytesMax);
  const result = (rest: Pick<ProcessResult, "ended" | "exitCode" | "signal" | "confirmedStopped">): ProcessResult => ({
    ...rest,
    stdout: stdout.captured(),
    stderr: stderr.captured(),
    durationMs: performance.now() - startedAt,
  });
  const neverStarted = { ended: "aborted", exitCode: null, signal: null, confirmedStopped: true } as const;
  if (options.signal?.aborted) return result(neverStarted);

  const tree = await startProcessTree(typeof options.command === "string" ? [systemProgram("sh") ?? "sh", "-c", options.command] : options.command, {
    cwd: options.cwd,
    environment: childEnvironment(options.environment),
    stdio: [options.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    isolation: options.isolation,
    enclosure: options.enclosure,
  });
  const drained = Promise.all([capture(tree, "stdout", stdout, options), capture(tree, "stderr", stderr, options)]);
  // EPIPE: a command need not read what it is given.
  tree.child.stdin?.on("error", () => {});
  tree.child.stdin?.end(options.stdin);

  const ended = await firstEnd(tree, options);
  const stopped = await tree.stop({ graceMs: options.graceMs ?? GRACE_MS });
  const closed = await within(drained, DRAIN_MS);
  if (!closed) for (const stream of tree.child.stdio) stream?.destroy();
  const exit = stopped ? await tree.exited : { exitCode: null, signal: null };
  return result({ ended, exitCode: exit.exitCode, signal: exitSignal(exit), confirmedStopped: stopped && closed });
}

/** Keeps and tells what a stream carries; resolves when it is closed. Shared with what runs in the background. */
export async function capture(
  tree: ProcessTree,
  name: "stdout" | "stderr",
  output: BoundedOutput,
  { onOutput, scrubber }: Pick<RunProcessOptions, "onOutput" | "scrubber">,
): Promise<void> {
  const stream = tree.child[name];
  if (stream === null) return;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const scrubbed = scrubber?.stream();
  const emit = (text: string): void => {
    if (scrubbed !== undefined) output.push(Buffer.from(text));
    if (text !== "") onOutput?.(text, name);
  };
  stream.on("data", (chunk: Buffer) => {
    if (scrubbed !== undefined) emit(scrubbed.push(decoder.decode(chunk, { stream: true })));
    else {
      output.push(chunk);
      if (onOutput !== undefined) emit(decoder.decode(chunk, { stream: true }));
    }
  });
  // A read error ends the stream as well; what was read is what there is.
  stream.on("error", () => {});
  await new Promise<void>((resolve) => stream.once("close", resolve));
  emit(scrubbed === undefined ? decoder.decode() : scrubbed.push(decoder.decode()) + scrubbed.end());
}

async function firstEnd(tree: ProcessTree, { timeoutMs, signal }: RunProcessOptions): Promise<ProcessResult["ended"]> {
  const over = new AbortController();
  const aborted = new Promise<"aborted">((resolve) => {
    signal?.addEventListener("abort", () => resolve("aborted"), { once: true, signal: over.signal });
    if (signal?.aborted) resolve("aborted");
  });
  const ends: Promise<ProcessResult["ended"]>[] = [tree.exited.then(() => "exited" as const), aborted];
  if (timeoutMs !== undefined) ends.push(delay(timeoutMs, "timed_out" as const, { signal: over.signal }).catch(() => "timed_out" as const));
  const ended = await Promise.race(ends);
  over.abort();
  return ended;
}
