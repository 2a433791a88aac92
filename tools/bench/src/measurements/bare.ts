import { createClient } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { measure } from "../load.ts";
import type { Round } from "../statistics.ts";

/** Messages of one long bare stream. */
export const STREAM_MESSAGES = 5_000;

/** The rpc library with handlers that do nothing. */
export interface BareClient {
  /** One after the other. */
  unary(count: number): Promise<Round>;
  /** Streams of one message each, one after the other. */
  shortStreams(count: number): Promise<Round>;
  /** Messages in a second of one long stream. */
  streamRate(): Promise<number>;
  close(): void;
}

/** As libs/client makes its transport: Connect over HTTP/2, binary, one connection. */
export function createBareClient(url: string): BareClient {
  const sessions = new Http2SessionManager(url);
  const transport = createConnectTransport({ baseUrl: url, httpVersion: "2", sessionManager: sessions });
  const session = createClient(SessionService, transport);
  const event = createClient(EventService, transport);
  const receive = async (messages: number): Promise<void> => {
    let received = 0;
    for await (const _ of event.subscribeEvents({ streams: [{ afterSeq: BigInt(messages) }] })) received++;
    if (received !== messages) throw new Error(`a bare stream ended after ${received} of ${messages} messages`);
  };
  return {
    unary: (count) =>
      measure(1, { seconds: 60, countMax: count }, async () => {
        await session.getSessionSnapshot({ sessionId: "bare" });
      }),
    shortStreams: (count) =>
      measure(1, { seconds: 60, countMax: count }, async () => {
        await receive(1);
      }),
    streamRate: async () => {
      const began = performance.now();
      await receive(STREAM_MESSAGES);
      return (STREAM_MESSAGES / (performance.now() - began)) * 1000;
    },
    close: () => sessions.abort(),
  };
}
