import http from "node:http";
import http2 from "node:http2";
import net from "node:net";

/** Of HTTP/2 as well, whose requests and responses have the same functions. */
export type FakeRequest = http.IncomingMessage;
export type FakeResponse = http.ServerResponse;

/** A server of a scenario's own, with HTTP/1.1 and unencrypted HTTP/2 on one port; it counts what its clients leave open. */
export interface FakeServer {
  readonly url: string;
  /** Connections that are open now. */
  readonly connections: number;
  /** Calls that are neither answered nor given up. */
  readonly calls: number;
  close(): Promise<void>;
}

const PREFACE = "PRI * HTTP/2.0";

/** What a page in a browser needs to be let through. */
function allowBrowser(request: FakeRequest, response: FakeResponse): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("access-control-allow-methods", "POST");
  response.setHeader("access-control-allow-headers", request.headers["access-control-request-headers"] ?? "");
  response.setHeader("access-control-expose-headers", "grpc-status, grpc-message, grpc-status-details-bin, connect-content-encoding");
  // A browser keeps connections for its pages, whatever a client in one of them does.
  response.setHeader("connection", "close");
}

/** Starts one on a free port of the loopback interface. */
export async function startFakeServer(handle: (request: FakeRequest, response: FakeResponse) => void): Promise<FakeServer> {
  const sockets = new Set<net.Socket>();
  let calls = 0;
  const serve = (request: FakeRequest, response: FakeResponse): void => {
    allowBrowser(request, response);
    if (request.method === "OPTIONS") {
      response.statusCode = 204;
      response.end();
      return;
    }
    calls++;
    response.once("close", () => calls--);
    handle(request, response);
  };
  const http1 = http.createServer(serve);
  const h2 = http2.createServer(serve as unknown as (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => void);
  // A session that is torn down tells its end, which is what is wanted here.
  h2.on("sessionError", () => undefined);
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setNoDelay(true);
    socket.once("data", (first) => {
      // Every client sends the preface in one piece.
      const isHttp2 = first.toString("latin1", 0, PREFACE.length) === PREFACE;
      socket.pause();
      socket.unshift(first);
      (isHttp2 ? h2 : http1).emit("connection", socket);
      if (!isHttp2) socket.resume();
    });
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    get connections() {
      return sockets.size;
    },
    get calls() {
      return calls;
    },
    close: () => close(server, sockets),
  };
}

/** Starts one that takes connections and does with them what it is told. */
export async function startFakeListener(handle: (socket: net.Socket) => void): Promise<Omit<FakeServer, "calls">> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    handle(socket);
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    get connections() {
      return sockets.size;
    },
    close: () => close(server, sockets),
  };
}

/** Ends the connection that a call came by. */
export function cutConnection(response: FakeResponse): void {
  if ("stream" in response) (response.stream as http2.ServerHttp2Stream).session?.destroy();
  else response.socket?.destroy();
}

/** Whether nobody waits for a call's answer any more. */
export function isGivenUp(response: FakeResponse): boolean {
  return "stream" in response ? (response.stream as http2.ServerHttp2Stream).destroyed : response.destroyed;
}

function listen(server: net.Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as net.AddressInfo).port)));
}

function close(server: net.Server, sockets: ReadonlySet<net.Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of sockets) socket.destroy();
  return closed;
}
