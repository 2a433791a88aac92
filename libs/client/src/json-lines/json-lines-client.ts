import { bindServices } from "../bind-services.ts";
import type { ForgeClient } from "../forge-client.ts";
import type { Command } from "./child.ts";
import { JsonLinesConnection } from "./connection.ts";
import { JsonLinesTransport } from "./transport.ts";

export type JsonLinesClientOptions = Command;

/**
 * A client of `forge rpc`, as a process of its own that speaks JSON lines. It is started with the first call, and again with the first one after it has ended.
 * Closing the client ends it and waits for that.
 */
export function createJsonLinesClient(options: JsonLinesClientOptions): ForgeClient {
  const closed = new AbortController();
  const connection = new JsonLinesConnection(options);
  // Who starts the process is who calls: it has a person's credential, and workers don't speak by it.
  const { worker: _, ...services } = bindServices(new JsonLinesTransport(connection, closed.signal), { headers: {}, closed: closed.signal });
  return {
    ...services,
    close: async () => {
      closed.abort();
      await connection.close();
    },
  };
}
