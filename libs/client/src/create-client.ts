import { bindServices } from "./bind-services.ts";
import { type ClientOptions, callerHeaders } from "./client-options.ts";
import type { ConnectClient } from "./forge-client.ts";
import { openConnection } from "./transports/open-connection.ts";

/** A client of a server. Nothing is sent before the first call. */
export function createClient({ url, transport = "connect", ...caller }: ClientOptions): ConnectClient {
  const connection = openConnection(url, transport);
  const closed = new AbortController();
  const headers = callerHeaders(caller);
  return {
    ...bindServices(connection.transport, { headers, closed: closed.signal }),
    close: async () => {
      closed.abort();
      connection.close();
    },
  };
}
