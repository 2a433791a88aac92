import { createClient } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { measure } from "../load.ts";
import type { Round } from "../statistics.ts";

/** Messages of one bare stream. */
export const STREAM_MESSAGES = 5_000;

/** The rpc library with handlers that do nothing. */
export interface BareClient {
  /** One after the other. */
  unary(count: number): Promise<Round>;
  stream(): Promise<{ readonly perSecond: number; readonly firstMs: number }>;
  close(): void;
}

/** As libs/client makes its transport: Connect over HTTP/2, binary, one connection. */
export function createBareClient(url: string): BareClient {
  const sessions = new Http2SessionManager(url);
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "2", sessionManager: sessions });
  const session = createClient(SessionService, transport);
  const event = createClient(EventService, transport);
  return {
    unary: (count) =>
      measure(1, { seconds: 60, countMax: count }, async () => {
        await session.getSessionSnapshot({ sessionId: "bare" });
      }),
    stream: async () => {
      const began = performance.now();
      let firstMs = Number.NaN;
      let received = 0;
      for await (const _ of event.subscribeEvents({ streams: [{ afterSeq: BigInt(STREAM_MESSAGES) }] })) {
        if (received++ === 0) firstMs = performance.now() - began;
      }
      if (received !== STREAM_MESSAGES) throw new Error(`the bare stream ended after ${received} of ${STREAM_MESSAGES} messages`);
      return { perSecond: (received / (performance.now() - began)) * 1000, firstMs };
    },
    close: () => sessions.abort(),
  };
}
