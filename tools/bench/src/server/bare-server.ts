import http2 from "node:http2";
import type net from "node:net";
import { create } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { EventService, SessionPolicyUpdatedSchema, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { GetSessionSnapshotResponseSchema, SessionService, UpdateSessionPolicyResponseSchema } from "@forge/protocol/session";
import { ReportOutputResponseSchema, WorkerService } from "@forge/protocol/worker";
import { BareTopics } from "./bare-topics.ts";

/** A server whose handlers do nothing, or no more than pass on what they are told. */
export interface BareServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * What the rpc library costs by itself: a unary method that answers an empty message, and a stream that sends as many positions as the first cursor's
 * `after_seq` says. With a stream's name in the cursor: what was written to that name, kept in memory, and then what is written.
 */
export async function startBareServer(): Promise<BareServer> {
  const topics = new BareTopics();
  const handler = connectNodeAdapter({
    routes: (router) => {
      router.service(SessionService, {
        getSessionSnapshot: () => create(GetSessionSnapshotResponseSchema),
        updateSessionPolicy: ({ sessionId, policy }) => {
          const updated = create(SessionPolicyUpdatedSchema, { policy });
          const seq = topics.publish(sessionId, [{ kind: "session.policy_updated", payload: { case: "sessionPolicyUpdated", value: updated } }]);
          return create(UpdateSessionPolicyResponseSchema, { seq: BigInt(seq) });
        },
      });
      router.service(WorkerService, {
        reportOutput: ({ workerSessionId, deltas }) => {
          const outputs = deltas.flatMap(({ kind }) => (kind.case === "turn" ? [kind.value] : []));
          topics.publish(
            workerSessionId,
            outputs.map((value) => ({ kind: "turn.output_delta", payload: { case: "turnOutputDelta", value } })),
          );
          return create(ReportOutputResponseSchema);
        },
      });
      router.service(EventService, {
        async *subscribeEvents(request, context) {
          const stream = request.streams[0]?.stream;
          const count = request.streams[0]?.afterSeq ?? 0n;
          if (stream !== undefined) {
            yield* topics.follow(stream.id, Number(count), context.signal);
            return;
          }
          const message = create(SubscribeEventsResponseSchema, { kind: { case: "position", value: {} } });
          for (let sent = 0n; sent < count; sent++) yield message;
        },
      });
    },
  });
  // As Forge's own server: Node takes a client that gives up a thousand streams at once for an attack.
  const limits = { settings: { maxConcurrentStreams: 10_000 }, streamResetBurst: 50_000, streamResetRate: 5_000 };
  const server = http2.createServer(limits, handler);
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
