import type { ClientOptions } from "./client-options.ts";
import { createClient } from "./create-client.ts";
import type { ConnectClient } from "./forge-client.ts";

export type ConnectClientOptions = Omit<ClientOptions, "transport">;

/** Connect over HTTP/2, binary: the transport to take where nothing speaks for another. */
export function createConnectClient(options: ConnectClientOptions): ConnectClient {
  return createClient({ ...options, transport: "connect" });
}
