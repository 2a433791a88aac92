import http from "node:http";
import http2 from "node:http2";
import type net from "node:net";

export type Handle = (request: http.IncomingMessage | http2.Http2ServerRequest, response: http.ServerResponse | http2.Http2ServerResponse) => void;

export interface FrontOptions {
  /** A connection that has not said which protocol it speaks is closed after this time. */
  readonly prefaceMs: number;
  /** Of HTTP/1.1: how long a request's headers may take. */
  readonly headersMs: number;
  readonly connectionsMax: number;
}

const PREFACE = "PRI * HTTP/2.0";
const STREAMS_PER_CONNECTION_MAX = 10_000;
/**
 * Calls that one connection may give up at once, and in each second after that; beyond it the connection is closed. Node allows 1,000 and 33, which is for strangers:
 * a client that follows runs gives up a stream at each one's end.
 */
const RESETS_AT_ONCE_MAX = 50_000;
const RESETS_PER_SECOND_MAX = 5_000;

/** HTTP/1.1 and unencrypted HTTP/2 on one port. */
export class Front {
  /** Listen on it; what it accepts is served by `handle`, whatever it speaks. */
  readonly server: http.Server;
  readonly #sockets = new Set<net.Socket>();

  constructor(handle: Handle, { prefaceMs, headersMs, connectionsMax }: FrontOptions) {
    // The HTTP/1.1 server listens itself, for only then does it look after headers that don't come; what it does with a connection is put off.
    this.server = http.createServer({ headersTimeout: headersMs, connectionsCheckingInterval: Math.min(headersMs, 10_000) }, handle);
    const h2 = http2.createServer(
      { settings: { maxConcurrentStreams: STREAMS_PER_CONNECTION_MAX }, streamResetBurst: RESETS_AT_ONCE_MAX, streamResetRate: RESETS_PER_SECOND_MAX },
      handle,
    );
    const serveHttp1 = this.server.listeners("connection") as ((socket: net.Socket) => void)[];
    this.server.removeAllListeners("connection");
    this.server.maxConnections = connectionsMax;
    this.server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      socket.on("error", () => socket.destroy());
      socket.setNoDelay(true);
      chooseProtocol(socket, prefaceMs, (isHttp2) => {
        if (isHttp2) h2.emit("connection", socket);
        else for (const serve of serveHttp1) serve.call(this.server, socket);
      });
    });
  }

  /** Refuses new connections, ends the open ones, and resolves when all are closed. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** The first bytes of a connection tell HTTP/2 from HTTP/1.1; they are put back before either server sees the socket. */
function chooseProtocol(socket: net.Socket, waitMs: number, serve: (isHttp2: boolean) => void): void {
  const silent = setTimeout(() => socket.destroy(), waitMs);
  let seen = Buffer.alloc(0);
  const onData = (data: Buffer): void => {
    seen = Buffer.concat([seen, data]);
    const start = seen.toString("latin1", 0, PREFACE.length);
    if (seen.length < PREFACE.length && PREFACE.startsWith(start)) return;
    clearTimeout(silent);
    socket.off("data", onData);
    socket.pause();
    socket.unshift(seen);
    const isHttp2 = start === PREFACE;
    serve(isHttp2);
    // A session of HTTP/2 takes what was put back by itself, one tick later; from a socket that flows it would be lost by then.
    if (!isHttp2) socket.resume();
  };
  socket.on("data", onData);
  socket.once("close", () => clearTimeout(silent));
}
