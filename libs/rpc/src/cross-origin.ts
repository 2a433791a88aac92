import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { cors } from "@connectrpc/connect";

/** What our clients send beside the headers of the protocols. */
const CALLER_HEADERS = ["authorization", "forge-namespace"];
/** So long a browser need not ask again; none remembers it longer. */
const REMEMBERED_SECONDS = 7200;

/**
 * Tells a browser that a page of another origin, which has been found to be allowed, may call and read the answers, errors included. Answers whether the request was the
 * browser's question for that (a preflight), which has no other answer. See the Fetch standard, "CORS protocol".
 */
export function letOriginIn(request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return false;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-expose-headers", cors.exposedHeaders.join(", "));
  response.setHeader("vary", "Origin");
  if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return false;
  response.setHeader("access-control-allow-methods", cors.allowedMethods.join(", "));
  response.setHeader("access-control-allow-headers", [...cors.allowedHeaders, ...CALLER_HEADERS].join(", "));
  response.setHeader("access-control-max-age", String(REMEMBERED_SECONDS));
  // A page of the open network that calls a server of this machine: Chromium asks for that apart.
  if (request.headers["access-control-request-private-network"] === "true") response.setHeader("access-control-allow-private-network", "true");
  response.statusCode = 204;
  response.end();
  return true;
}
