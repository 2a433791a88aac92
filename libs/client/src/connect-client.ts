import type { DescService } from "@bufbuild/protobuf";
import { createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { CallOptions, Client } from "@forge/protocol";
import { ArtifactService } from "@forge/protocol/artifact";
import { ApprovalService, EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { WorkerService } from "@forge/protocol/worker";
import { WorkflowService } from "@forge/protocol/workflow";
import type { ForgeClient } from "./forge-client.ts";
import { fromStatus } from "./status.ts";

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

/** Connect over HTTP/2, binary. Nothing is sent before the first call. */
export function createConnectClient(options: ConnectClientOptions): ConnectClient {
  const sessions = new Http2SessionManager(options.url);
  const credentials: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${options.token}`);
    if (options.namespace !== undefined) request.header.set("forge-namespace", options.namespace);
    return next(request);
  };
  const transport = createConnectTransport({ baseUrl: options.url, httpVersion: "2", sessionManager: sessions, interceptors: [credentials] });
  return {
    session: bind(SessionService, transport),
    workflow: bind(WorkflowService, transport),
    event: bind(EventService, transport),
    approval: bind(ApprovalService, transport),
    artifact: bind(ArtifactService, transport),
    worker: bind(WorkerService, transport),
    close: async () => sessions.abort(),
  };
}

type Unary = (request: object, options?: CallOptions) => Promise<unknown>;
type Streaming = (request: object, options?: CallOptions) => AsyncIterable<unknown>;

/** Connect's own client, with errors converted once, here. */
function bind<S extends DescService>(service: S, transport: Transport): Client<S> {
  const client = createClient(service, transport) as unknown as Record<string, Unary | Streaming>;
  const bound: Record<string, unknown> = {};
  for (const method of service.methods) {
    const call = client[method.localName] as Unary | Streaming;
    bound[method.localName] =
      method.methodKind === "unary"
        ? (request: object, options?: CallOptions) =>
            (call as Unary)(request, options).catch((error: unknown) => {
              throw fromStatus(error, options?.signal);
            })
        : (request: object, options?: CallOptions) => converted((call as Streaming)(request, options), options?.signal);
  }
  return bound as Client<S>;
}

async function* converted(messages: AsyncIterable<unknown>, signal: AbortSignal | undefined): AsyncGenerator<unknown> {
  try {
    yield* messages;
  } catch (error) {
    throw fromStatus(error, signal);
  }
}
