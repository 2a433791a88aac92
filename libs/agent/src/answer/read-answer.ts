import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { StreamBroken } from "../failure/stream-error.ts";
import type { Answer } from "./answer.ts";

/** How long a provider's stream may take to let go once it was told to; then it is left behind. */
const STOP_MS_MAX = 5_000;

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
 * Sends the request and takes the whole stream into the answer. Rejects with the signal's reason when aborted, else with whatever went wrong; in every case
 * the stream has been given up by then, and with it the connection.
 */
export async function readAnswer(
  model: LanguageModelV4,
  options: Omit<LanguageModelV4CallOptions, "abortSignal">,
  signal: AbortSignal,
  answer: Answer,
): Promise<void> {
  const { stream } = await orAborted(model.doStream({ ...options, abortSignal: signal }), signal);
  const reader = stream.getReader();
  try {
    while (!answer.finishReason) {
      const { done, value } = await orAborted(reader.read(), signal);
      if (done) throw new StreamBroken("it ended before it was finished");
      answer.accept(value);
    }
  } finally {
    await letGo(reader);
  }
}
