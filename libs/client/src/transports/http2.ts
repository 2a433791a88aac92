import { createConnectTransport, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { Connection } from "./connection.ts";
import { ANSWER_BYTES_MAX, JSON_REQUEST_BYTES_MAX, PING_INTERVAL_MS, REQUEST_BYTES_MAX } from "./limits.ts";

/** Megabytes that wait to be sent on one connection. Beyond it every call fails until they are gone, so it has room for several artifacts at once. */
const SESSION_MEMORY_MB = 128;

/** Connect or gRPC over one connection of HTTP/2. */
export function openHttp2(baseUrl: string, format: "connect" | "connect-json" | "grpc"): Connection {
  const sessionManager = new Http2SessionManager(baseUrl, { pingIntervalMs: PING_INTERVAL_MS }, { maxSessionMemory: SESSION_MEMORY_MB });
  const isJson = format === "connect-json";
  const options = { baseUrl, sessionManager, readMaxBytes: ANSWER_BYTES_MAX, writeMaxBytes: isJson ? JSON_REQUEST_BYTES_MAX : REQUEST_BYTES_MAX };
  const transport = format === "grpc" ? createGrpcTransport(options) : createConnectTransport({ ...options, httpVersion: "2", useBinaryFormat: !isJson });
  return { transport, close: () => sessionManager.abort() };
}
