import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { createAuthenticator, type FindPrincipal } from "./authenticate.ts";
import { refuseBrowser } from "./browser-guard.ts";
import { Activity } from "./activity.ts";
import { createRoutes } from "./routes.ts";
import type { ServedApis } from "./services.ts";
import { StreamQuota } from "./stream-quota.ts";

export interface ServerOptions {
  readonly apis: ServedApis;
  readonly findPrincipal: FindPrincipal;
  /** Absent: 127.0.0.1. */
  readonly host?: string;
  /** 0: any free one. */
  readonly port: number;
  /** Browser origins that may call; absent: none. */
  readonly origins?: readonly string[];
  /** Host names, beside those of loopback, under which the server is known. */
  readonly hosts?: readonly string[];
  readonly onBug: (error: unknown, id: string) => void;
}

export interface Server {
  readonly url: string;
  readonly port: number;
  /** Calls of clients that are open now, and when one last began or ended, in milliseconds since the epoch. Workers' calls don't count. */
  readonly activity: Activity;
  /** Refuses new connections, ends the open ones, and resolves when all are closed. */
  close(): Promise<void>;
}

/** An artifact of 16 MiB and its envelope. */
const READ_BYTES_MAX = 17 * 1024 * 1024;
const STREAMS_PER_CALLER_MAX = 2_000;
const PREFACE = "PRI * HTTP/2.0";
const PREFACE_WAIT_MS = 10_000;

/** Serves Connect, gRPC and gRPC-web on one port, over HTTP/1.1 and unencrypted HTTP/2. Errors: conflict PORT_IN_USE. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const activity = new Activity();
  const adapter = connectNodeAdapter({
    routes: createRoutes({
      apis: options.apis,
      authenticate: createAuthenticator(options.findPrincipal),
      streams: new StreamQuota(STREAMS_PER_CALLER_MAX),
      activity,
      onBug: options.onBug,
    }),
    readMaxBytes: READ_BYTES_MAX,
    fallback: (_, response) => {
      response.statusCode = 404;
      response.end();
    },
  });
  const guard = { origins: new Set(options.origins ?? []), hosts: new Set((options.hosts ?? []).map((host) => host.toLowerCase())) };
  const handle = (request: http.IncomingMessage | http2.Http2ServerRequest, response: http.ServerResponse | http2.Http2ServerResponse) => {
    const refusal = refuseBrowser(request.headers, guard);
    if (refusal !== undefined) {
      response.statusCode = 403;
      response.end(refusal);
      return;
    }
    if (request.url === "/healthz") {
      response.statusCode = 200;
      response.end("ok\n");
      return;
    }
    adapter(request as never, response as never);
  };
  const http1 = http.createServer(handle);
  const h2 = http2.createServer({ settings: { maxConcurrentStreams: 10_000 } }, handle);
  const sockets = new Set<net.Socket>();
  const front = net.createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setNoDelay(true);
    chooseProtocol(socket, http1, h2);
  });
  await listen(front, options.port, options.host ?? "127.0.0.1");
  const address = front.address() as net.AddressInfo;
  const shown = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return {
    url: `http://${shown}:${address.port}`,
    port: address.port,
    activity,
    close: async () => {
      const closed = new Promise<void>((resolve) => front.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The first bytes of a connection tell HTTP/2 from HTTP/1.1; they are put back before either server sees the socket. */
function chooseProtocol(socket: net.Socket, http1: http.Server, h2: http2.Http2Server): void {
  const silent = setTimeout(() => socket.destroy(), PREFACE_WAIT_MS);
  let seen = Buffer.alloc(0);
  const onData = (data: Buffer) => {
    seen = Buffer.concat([seen, data]);
    const start = seen.toString("latin1", 0, PREFACE.length);
    if (seen.length < PREFACE.length && PREFACE.startsWith(start)) return;
    clearTimeout(silent);
    socket.off("data", onData);
    socket.pause();
    socket.unshift(seen);
    if (start === PREFACE) {
      // The session takes what was put back by itself, one tick later; a socket that flows would have lost it by then.
      h2.emit("connection", socket);
      return;
    }
    http1.emit("connection", socket);
    socket.resume();
  };
  socket.on("data", onData);
  socket.once("close", () => clearTimeout(silent));
}

function listen(server: net.Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") reject(error);
      else reject(new ForgeError(ErrorCode.CONFLICT, `port ${port} of ${host} is in use: choose another, or 0 for any free one`, { reason: "PORT_IN_USE", metadata: { port: String(port) } }));
    });
    server.listen(port, host, () => resolve());
  });
}
