import type { IncomingHttpHeaders } from "node:http";

/** Which browser pages may call, and under which names the server is known. */
export interface BrowserGuardOptions {
  /** Origins, beside the server's own, such as http://localhost:5173; none by default. */
  readonly origins: ReadonlySet<string>;
  /** Host names, without port, under which requests may come. */
  readonly hosts: ReadonlySet<string>;
}

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Why a request is refused, or undefined. A page of a stranger can reach a loopback port: its Origin tells it apart, and a name that was rebound to
 * loopback is told by its Host.
 */
export function refuseBrowser(headers: IncomingHttpHeaders, options: BrowserGuardOptions): string | undefined {
  const host = headers.host ?? String(headers[":authority"] ?? "");
  const name = host.replace(/:\d+$/, "").toLowerCase();
  if (!LOOPBACK.has(name) && !options.hosts.has(name)) return `host ${name.slice(0, 200)} is not served here`;
  const { origin } = headers;
  // The server's own pages, also behind a proxy that adds TLS: of a host that is served here, and of its port.
  if (origin === `http://${host.toLowerCase()}` || origin === `https://${host.toLowerCase()}`) return undefined;
  if (origin !== undefined && !options.origins.has(origin)) return `origin ${origin.slice(0, 200)} is not allowed here`;
  return undefined;
}
