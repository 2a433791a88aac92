import type { Transport } from "@connectrpc/connect";

/** A way to a server: calls go through `transport`. Nothing is sent before the first one; it connects again by itself. */
export interface Connection {
  readonly transport: Transport;
  /** Ends every open call; none may follow. */
  close(): void;
}
