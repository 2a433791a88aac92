/**
 * How a client talks to the server. All carry the same calls and the same errors; over HTTP/1.1 each open subscription is a connection of its own.
 *
 * - `connect`: Connect over HTTP/2, binary; what to take unless something stands in between that wants another
 * - `connect-json`: the same as JSON
 * - `connect-http1`, `connect-http1-json`: Connect over HTTP/1.1
 * - `grpc`: gRPC over HTTP/2
 * - `grpc-web`: gRPC-web over HTTP/1.1, as browsers and their proxies speak it
 * - `grpc-js`: gRPC by `@grpc/grpc-js`, for programs that have it anyway
 */
export type TransportName = "connect" | "connect-json" | "connect-http1" | "connect-http1-json" | "grpc" | "grpc-web" | "grpc-js";

/** The headers that say who calls, and in which namespace. */
export function callerHeaders({ token, namespace }: Pick<ClientOptions, "token" | "namespace">): Record<string, string> {
  return { authorization: `Bearer ${token}`, ...(namespace === undefined ? {} : { "forge-namespace": namespace }) };
}

export interface ClientOptions {
  /** For example http://127.0.0.1:7233. */
  readonly url: string;
  readonly token: string;
  /** Absent: the credential's first. */
  readonly namespace?: string;
  /** Absent: `connect`. */
  readonly transport?: TransportName;
}
