import type { Progress } from "@forge/workspace";
import type { CommonOptions, Context } from "../context.ts";
import { formatBytes } from "../output/format-bytes.ts";
import { showStatus } from "../output/status-line.ts";
import { onSignals } from "../signals.ts";

/** No eye follows faster ones, and a file may take less than a millisecond. */
const SAY_MS = 80;

interface Work {
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

/** Does what takes time: tells a person on a terminal how far it is, and stops cleanly at Ctrl-C and SIGTERM. */
export async function doLongWork<T>({ terminal }: Context, { json }: CommonOptions, act: (work: Work) => Promise<T>): Promise<T> {
  const status = showStatus(terminal, json === true);
  const stop = new AbortController();
  const stopNow = (): void => stop.abort();
  const release = onSignals({ SIGINT: stopNow, SIGTERM: stopNow });
  let saidMs = 0;
  const onProgress = (progress: Progress): void => {
    if (Date.now() - saidMs < SAY_MS) return;
    saidMs = Date.now();
    status.say(progressText(progress));
  };
  try {
    return await act({ onProgress, signal: stop.signal });
  } finally {
    release();
    status.close();
  }
}

const VERBS: Readonly<Record<Progress["phase"], string>> = { reading: "Reading", putting: "Storing", getting: "Getting" };

/** For example: Getting 3 of 10 files, 1.0 MiB of 2.5 MiB. */
export function progressText({ phase, files, filesTotal, bytes, bytesTotal }: Progress): string {
  const count = (total: number | undefined, shown: (value: number) => string, value: number): string =>
    total === undefined ? shown(value) : `${shown(value)} of ${shown(total)}`;
  const noun = (filesTotal ?? files) === 1 ? "file" : "files";
  return `${VERBS[phase]} ${count(filesTotal, String, files)} ${noun}, ${count(bytesTotal, formatBytes, bytes)}`;
}
