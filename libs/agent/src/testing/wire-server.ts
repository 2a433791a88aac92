import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

/** A request as it arrived. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON body, byte for byte. */
  readonly bodyText: string;
  /** Empty where there is none. */
  readonly body: Record<string, unknown>;
  /** Resolves when the exchange is over: true where the client closed it before the answer's end. */
  readonly closedByClient: Promise<boolean>;
}

/** How one request is answered. */
export type Reply = (response: ServerResponse, request: RecordedRequest) => Promise<void> | void;

/** How a stream ends: properly, with its connection torn down, or never. */
export type StreamEnd = "end" | "reset" | "hang";

/** A server that speaks a provider's wire format by script, one reply for each request in order. */
export interface WireServer extends AsyncDisposable {
  /** With the path that the wire format begins with. */
  readonly baseUrl: string;
  readonly requests: readonly RecordedRequest[];
  /** Adds replies for the next requests. A request without one is answered with status 500. */
  enqueue(...replies: Reply[]): void;
  close(): Promise<void>;
}

async function writePiece(response: ServerResponse, piece: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => {
    // The callback comes with an error where the client has gone; nobody is left to be told.
    response.write(piece, () => resolve());
  });
  await nextTurn();
}

/** Streams the pieces, each in a write of its own. */
export function streamReply(pieces: readonly (string | Uint8Array)[], end: StreamEnd = "end"): Reply {
  return async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) await writePiece(response, piece);
    if (end === "end") response.end();
    if (end === "reset") response.destroy();
  };
}

/** Answers with a status and a body. */
export function statusReply(status: number, body: string | object, headers: Readonly<Record<string, string>> = {}): Reply {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** Tears the connection down before any answer. */
export function resetReply(): Reply {
  return (response) => {
    response.destroy();
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

async function closedByClient(response: ServerResponse): Promise<boolean> {
  await once(response, "close");
  return !response.writableFinished;
}

async function record(request: IncomingMessage, response: ServerResponse): Promise<RecordedRequest> {
  const closed = closedByClient(response);
  const bodyText = await readBody(request);
  const body = bodyText === "" ? {} : (JSON.parse(bodyText) as Record<string, unknown>);
  return { method: request.method ?? "", path: request.url ?? "", headers: request.headers, bodyText, body, closedByClient: closed };
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Starts a server on a free port of the loopback interface, whose base URL ends in the path. */
export async function startWireServer(path: string): Promise<WireServer> {
  const requests: RecordedRequest[] = [];
  const replies: Reply[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const recorded = await record(request, response);
    requests.push(recorded);
    const reply = replies.shift() ?? statusReply(500, { error: { message: "No reply was scripted for this request." } });
    await reply(response, recorded);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))));
  });
  const port = await listen(server);
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    baseUrl: `http://127.0.0.1:${port}${path}`,
    requests,
    enqueue: (...more) => void replies.push(...more),
    close,
    [Symbol.asyncDispose]: close,
  };
}
