import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { CLIENT_TOKEN } from "./serve.ts";

/** Every way to talk to the server: what it is called, and a transport for a server's URL. */
export const TRANSPORTS: readonly (readonly [string, (baseUrl: string) => Transport])[] = [
  ["Connect over HTTP/1.1", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" })],
  ["Connect over HTTP/2", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" })],
  ["Connect JSON over HTTP/1.1", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false })],
  ["Connect JSON over HTTP/2", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false })],
  ["gRPC", (baseUrl) => createGrpcTransport({ baseUrl })],
  ["gRPC JSON", (baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: false })],
  ["gRPC-web over HTTP/1.1", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
  ["gRPC-web over HTTP/2", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" })],
];

export const AS_CLIENT = { headers: { authorization: `Bearer ${CLIENT_TOKEN}` } };

/** What a call failed with. */
export async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ConnectError) return error;
    throw error;
  }
  throw new ConnectError("the call succeeded", Code.Unknown);
}
