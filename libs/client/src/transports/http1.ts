import http from "node:http";
import https from "node:https";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import type { Connection } from "./connection.ts";
import { ANSWER_BYTES_MAX, JSON_REQUEST_BYTES_MAX, PING_INTERVAL_MS, REQUEST_BYTES_MAX } from "./limits.ts";

/** Every open call has a connection of its own; more calls wait. A tenth of what a server takes, from all of its clients. */
const CONNECTIONS_MAX = 1_000;
/** Each is a socket that waits for the next call. */
const IDLE_CONNECTIONS_MAX = 64;

/** Connect or gRPC-web over connections of HTTP/1.1. */
export function openHttp1(baseUrl: string, format: "connect-http1" | "connect-http1-json" | "grpc-web"): Connection {
  const { Agent } = new URL(baseUrl).protocol === "https:" ? https : http;
  const agent = new Agent({ keepAlive: true, keepAliveMsecs: PING_INTERVAL_MS, maxSockets: CONNECTIONS_MAX, maxFreeSockets: IDLE_CONNECTIONS_MAX });
  const isJson = format === "connect-http1-json";
  const options = {
    baseUrl,
    httpVersion: "1.1" as const,
    nodeOptions: { agent },
    useBinaryFormat: !isJson,
    readMaxBytes: ANSWER_BYTES_MAX,
    writeMaxBytes: isJson ? JSON_REQUEST_BYTES_MAX : REQUEST_BYTES_MAX,
  };
  const transport = format === "grpc-web" ? createGrpcWebTransport(options) : createConnectTransport(options);
  return { transport, close: () => agent.destroy() };
}
