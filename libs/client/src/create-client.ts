import { bindServices } from "./bind-services.ts";
import type { ClientOptions } from "./client-options.ts";
import type { ConnectClient } from "./forge-client.ts";
import { openConnection } from "./transports/open-connection.ts";

/** A client of a server. Nothing is sent before the first call. */
export function createClient({ url, token, namespace, transport = "connect" }: ClientOptions): ConnectClient {
  const connection = openConnection(url, transport);
  const closed = new AbortController();
  const headers: Record<string, string> = { authorization: `Bearer ${token}` };
  if (namespace !== undefined) headers["forge-namespace"] = namespace;
  return {
    ...bindServices(connection.transport, { headers, closed: closed.signal }),
    close: async () => {
      closed.abort();
      connection.close();
    },
  };
}
