import { StreamBroken } from "../failure/stream-error.ts";

/** Of an error's body: enough for any message that people write. */
const ERROR_BODY_BYTES_MAX = 64 * 1024;

/** Of one line of a stream, which a parser keeps in memory until its end. */
const LINE_BYTES_MAX = 8 * 1024 * 1024;

const NEWLINE = 10;

function cutAt(bytesMax: number): TransformStream<Uint8Array, Uint8Array> {
  let left = bytesMax;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  });
}

function refuseLongLines(bytesMax: number): TransformStream<Uint8Array, Uint8Array> {
  let length = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const last = chunk.lastIndexOf(NEWLINE);
      const first = last === -1 ? chunk.length : chunk.indexOf(NEWLINE);
      if (length + first > bytesMax) throw new StreamBroken(`it sent a line of more than ${bytesMax} bytes`);
      length = last === -1 ? length + chunk.length : chunk.length - last - 1;
      controller.enqueue(chunk);
    },
  });
}

/** `fetch` whose answers can't fill the memory: errors are cut, streams are read line by line. Redirects are refused, they would carry the key elsewhere. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "error" });
  if (!response.body) return response;
  const bound = response.ok ? refuseLongLines(LINE_BYTES_MAX) : cutAt(ERROR_BODY_BYTES_MAX);
  return new Response(response.body.pipeThrough(bound), { status: response.status, statusText: response.statusText, headers: response.headers });
};
