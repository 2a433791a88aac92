import { createConnectTransport } from "@connectrpc/connect-web";
import { bindServices } from "./bind-services.ts";
import { type ClientOptions, callerHeaders } from "./client-options.ts";
import type { ConnectClient } from "./forge-client.ts";

export interface WebClientOptions extends Omit<ClientOptions, "transport"> {
  /** Absent: true. Messages as JSON are larger, and easier to look at in a browser's tools. */
  readonly binary?: boolean;
}

/**
 * The same client by `fetch`: for pages, and whatever else has no sockets. Connect over what the browser and the server agree on; over HTTP/1.1 a browser
 * opens six connections to a server, and each subscription keeps one. A page of another origin than the server's has to be allowed there.
 */
export function createWebClient({ url, binary = true, ...caller }: WebClientOptions): ConnectClient {
  const closed = new AbortController();
  const transport = createConnectTransport({
    baseUrl: url,
    useBinaryFormat: binary,
    fetch: (input, init) => {
      const signals = [closed.signal, init?.signal].filter((signal) => signal !== undefined && signal !== null);
      return fetch(input, { ...init, signal: AbortSignal.any(signals) });
    },
  });
  const headers = callerHeaders(caller);
  return {
    ...bindServices(transport, { headers, closed: closed.signal }),
    close: async () => closed.abort(),
  };
}
