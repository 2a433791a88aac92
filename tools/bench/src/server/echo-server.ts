import http from "node:http";
import http2 from "node:http2";
import type net from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { EventService, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { GetSessionSnapshotResponseSchema, SessionService } from "@forge/protocol/session";

/** What the echo service answers: recorded answers of Forge, so that both send the same bytes. */
export interface Recorded {
  readonly snapshot: Uint8Array;
  readonly events: readonly Uint8Array[];
}

/** The rpc library with handlers that answer what is at hand; over HTTP/1.1 and HTTP/2, which Forge serves on one port. */
export interface EchoServer {
  readonly http1Url: string;
  readonly http2Url: string;
  close(): Promise<void>;
}

export async function startEchoServer({ snapshot, events }: Recorded): Promise<EchoServer> {
  const snapshotResponse = fromBinary(GetSessionSnapshotResponseSchema, snapshot);
  const responses = events.map((bytes) => fromBinary(SubscribeEventsResponseSchema, bytes));
  const handler = connectNodeAdapter({
    routes: (router) => {
      router.service(SessionService, { getSessionSnapshot: () => snapshotResponse });
      router.service(EventService, {
        async *subscribeEvents() {
          yield* responses;
        },
      });
    },
  });
  const servers = [http.createServer(handler), http2.createServer({ settings: { maxConcurrentStreams: 10_000 } }, handler)] as const;
  const sockets = new Set<net.Socket>();
  for (const server of servers) {
    server.on("connection", (socket: net.Socket) => {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  }
  const [http1Url, http2Url] = servers.map((server) => `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`) as [string, string];
  return {
    http1Url,
    http2Url,
    close: async () => {
      const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
}
