import { EventSourceParserStream } from "eventsource-parser/stream";
import { findValues, type JsonPlace } from "./json-source.ts";

/** candidates, n, content, parts, n, functionCall, args */
function isArguments({ path }: JsonPlace): boolean {
  return path.length === 7 && path[0] === "candidates" && path[2] === "content" && path[3] === "parts" && path[5] === "functionCall" && path[6] === "args";
}

/**
 * The event with each call's arguments as a string that holds their text. Google writes them as an object; parsed and written anew they would no longer be what
 * the model wrote. The package passes a string on as it is.
 */
export function argumentsAsText(event: string): string {
  if (!event.includes('"functionCall"')) return event;
  let places: JsonPlace[];
  try {
    places = findValues(event).filter(isArguments);
  } catch {
    // No JSON: the package says so in its own words.
    return event;
  }
  let written = "";
  let from = 0;
  for (const { start, end } of places) {
    const source = event.slice(start, end);
    if (!source.startsWith("{")) continue;
    written += event.slice(from, start) + JSON.stringify(source);
    from = end;
  }
  return written + event.slice(from);
}

/** An answer whose streamed calls keep their arguments' text. */
export function keepArguments(response: Response): Response {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (!response.ok || !response.body || !isStream) return response;
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const rewritten = events.pipeThrough(
    new TransformStream<{ data: string }, string>({
      transform({ data }, controller) {
        controller.enqueue(`${argumentsAsText(data).replaceAll(/^/gm, "data: ")}\n\n`);
      },
    }),
  );
  return new Response(rewritten.pipeThrough(new TextEncoderStream()), { status: response.status, statusText: response.statusText, headers: response.headers });
}
