import http2 from "node:http2";
import type net from "node:net";
import { create } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { EventService, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { GetSessionSnapshotResponseSchema, SessionService } from "@forge/protocol/session";

/** A server whose handlers do nothing. */
export interface BareServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * What the rpc library costs by itself: a unary method that answers an empty message, and a stream that sends as many positions as the first cursor's
 * `after_seq` says.
 */
export async function startBareServer(): Promise<BareServer> {
  const handler = connectNodeAdapter({
    routes: (router) => {
      router.service(SessionService, { getSessionSnapshot: () => create(GetSessionSnapshotResponseSchema) });
      router.service(EventService, {
        async *subscribeEvents(request) {
          const count = request.streams[0]?.afterSeq ?? 0n;
          const message = create(SubscribeEventsResponseSchema, { kind: { case: "position", value: {} } });
          for (let sent = 0n; sent < count; sent++) yield message;
        },
      });
    },
  });
  const server = http2.createServer({ settings: { maxConcurrentStreams: 10_000 } }, handler);
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  server.on("connection", (socket: net.Socket) => socket.setNoDelay(true));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.destroy();
      await closed;
    },
  };
}
