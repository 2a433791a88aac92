import { create, type DescMethod, type DescService, type Message, toBinary } from "@bufbuild/protobuf";
import { createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { type CallOptions, type Client, checkText, ForgeError } from "@forge/protocol";
import { ArtifactService } from "@forge/protocol/artifact";
import { ApprovalService, EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { WorkerService } from "@forge/protocol/worker";
import { WorkflowService } from "@forge/protocol/workflow";
import { clientClosed } from "./cancelled.ts";
import type { ForgeClient } from "./forge-client.ts";
import { fromStatus, TRANSPORT } from "./status.ts";

export interface ConnectClientOptions {
  /** For example http://127.0.0.1:7233. */
  readonly url: string;
  readonly token: string;
  /** Absent: the credential's first. */
  readonly namespace?: string;
}

/** A client that may also serve as a worker's port. */
export interface ConnectClient extends ForgeClient {
  readonly worker: Client<typeof WorkerService>;
}

/** A connection that says nothing for so long is asked whether it is still there, so that a subscriber notices when the other machine is gone. */
const PING_INTERVAL_MS = 20_000;
/** An artifact of 16 MiB with its envelope; what is larger the server would refuse. */
const REQUEST_BYTES_MAX = 17 * 1024 * 1024;
/** Megabytes that wait to be sent on one connection. Beyond it every call fails until they are gone, so it has room for several artifacts at once. */
const SESSION_MEMORY_MB = 128;

/** Connect over HTTP/2, binary. Nothing is sent before the first call. */
export function createConnectClient(options: ConnectClientOptions): ConnectClient {
  const sessions = new Http2SessionManager(options.url, { pingIntervalMs: PING_INTERVAL_MS }, { maxSessionMemory: SESSION_MEMORY_MB });
  const closed = new AbortController();
  const credentials: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${options.token}`);
    if (options.namespace !== undefined) request.header.set("forge-namespace", options.namespace);
    return next(request);
  };
  const transport = createConnectTransport({
    baseUrl: options.url,
    httpVersion: "2",
    sessionManager: sessions,
    interceptors: [credentials],
    writeMaxBytes: REQUEST_BYTES_MAX,
  });
  return {
    session: bind(SessionService, transport, closed.signal),
    workflow: bind(WorkflowService, transport, closed.signal),
    event: bind(EventService, transport, closed.signal),
    approval: bind(ApprovalService, transport, closed.signal),
    artifact: bind(ArtifactService, transport, closed.signal),
    worker: bind(WorkerService, transport, closed.signal),
    close: async () => {
      closed.abort();
      sessions.abort();
    },
  };
}

type Unary = (request: object, options?: CallOptions) => Promise<unknown>;
type Streaming = (request: object, options?: CallOptions) => AsyncIterable<unknown>;

/** Connect's own client, with requests checked and errors converted once, here. */
function bind<S extends DescService>(service: S, transport: Transport, closed: AbortSignal): Client<S> {
  const client = createClient(service, transport) as unknown as Record<string, Unary | Streaming>;
  const bound: Record<string, unknown> = {};
  for (const method of service.methods) {
    const call = client[method.localName] as Unary | Streaming;
    bound[method.localName] = method.methodKind === "unary" ? unary(method, call as Unary, closed) : streaming(method, call as Streaming, closed);
  }
  return bound as Client<S>;
}

function unary(method: DescMethod, call: Unary, closed: AbortSignal): Unary {
  return async (init, options) => {
    const request = toRequest(method, init, closed);
    try {
      return await call(request, options);
    } catch (error) {
      throw failure(error, method, request, closed, options);
    }
  };
}

function streaming(method: DescMethod, call: Streaming, closed: AbortSignal): Streaming {
  return async function* (init, options) {
    const request = toRequest(method, init, closed);
    try {
      yield* call(request, options);
    } catch (error) {
      throw failure(error, method, request, closed, options);
    }
  };
}

/** The request as it will be sent. Errors: validation of text that would arrive as another. */
function toRequest(method: DescMethod, init: object, closed: AbortSignal): Message {
  if (closed.aborted) throw clientClosed();
  const request = create(method.input, init as never);
  checkText(request);
  return request;
}

function failure(error: unknown, method: DescMethod, request: Message, closed: AbortSignal, options?: CallOptions): ForgeError {
  const known = fromStatus(error, options?.signal?.aborted === true || closed.aborted);
  return (known.reason === TRANSPORT ? unencodable(method, request) : undefined) ?? known;
}

/** Why a request could not be encoded, which the library tells as it tells a broken connection; undefined where it can. */
function unencodable(method: DescMethod, request: Message): ForgeError | undefined {
  try {
    toBinary(method.input, request);
    return undefined;
  } catch (error) {
    return ForgeError.validation("", error instanceof Error ? error.message : String(error), { origin: "client", cause: error });
  }
}
