import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { StreamBroken, StreamStalled } from "../failure/stream-error.ts";
import type { Answer } from "./answer.ts";

/** How long a provider's stream may take to let go once it was told to; then it is left behind. */
const STOP_MS_MAX = 5_000;

/** Silence of a provider, in milliseconds: longer than models think without a word, and much shorter than people wait. */
export const STALL_MS = 10 * 60_000;

/** The promise, or a rejection after so much silence. */
async function orStalled<T>(promise: Promise<T>, stallMs: number): Promise<T> {
  const { promise: stalled, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new StreamStalled(`${Math.round(stallMs / 1000)} s`)), stallMs);
  try {
    return await Promise.race([promise, stalled]);
  } finally {
    clearTimeout(timer);
  }
}

/** The promise, or the signal's reason as soon as it is aborted: a provider's code may not listen to the signal. */
async function orAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function letGo(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, STOP_MS_MAX);
  try {
    // What a stream says while it is given up adds nothing to why it was.
    await Promise.race([reader.cancel().catch(() => undefined), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Sends the request and takes the whole stream into the answer. Rejects with the signal's reason when aborted, with StreamStalled when nothing came for
 * `stallMs`, else with whatever went wrong; in every case the stream has been given up by then, and with it the connection.
 */
export async function readAnswer(
  model: LanguageModelV4,
  options: Omit<LanguageModelV4CallOptions, "abortSignal">,
  signal: AbortSignal,
  answer: Answer,
  stallMs = STALL_MS,
): Promise<void> {
  const giveUp = new AbortController();
  const abortSignal = AbortSignal.any([signal, giveUp.signal]);
  try {
    const { stream } = await orStalled(orAborted(model.doStream({ ...options, abortSignal }), signal), stallMs);
    const reader = stream.getReader();
    try {
      while (!answer.finishReason) {
        const { done, value } = await orStalled(orAborted(reader.read(), signal), stallMs);
        if (done) throw new StreamBroken("it ended before it was finished");
        answer.accept(value);
      }
    } finally {
      await letGo(reader);
    }
  } finally {
    // Also where the request itself was never answered.
    giveUp.abort();
  }
}
