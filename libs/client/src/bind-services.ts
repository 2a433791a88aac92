import { create, type DescMethod, type DescService, type Message, toBinary } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { type CallOptions, type Client, checkText, ForgeError } from "@forge/protocol";
import { ArtifactService } from "@forge/protocol/artifact";
import { ApprovalService, EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { TokenService } from "@forge/protocol/token";
import { WorkerService } from "@forge/protocol/worker";
import { ScheduleService, WorkflowService } from "@forge/protocol/workflow";
import { WorkspaceService } from "@forge/protocol/workspace";
import { clientClosed } from "./cancelled.ts";
import type { ConnectClient } from "./forge-client.ts";
import { spokenEvents } from "./spoken-events.ts";
import { fromStatus, TRANSPORT } from "./status.ts";

interface Binding {
  /** Sent with every call. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal;
}

/** Every service over one transport. */
export function bindServices(transport: Transport, binding: Binding): Omit<ConnectClient, "close"> {
  const event = bind(EventService, transport, binding);
  return {
    session: bind(SessionService, transport, binding),
    workflow: bind(WorkflowService, transport, binding),
    schedule: bind(ScheduleService, transport, binding),
    event: { ...event, subscribeEvents: (request, options) => spokenEvents(event.subscribeEvents(request, options)) },
    approval: bind(ApprovalService, transport, binding),
    artifact: bind(ArtifactService, transport, binding),
    workspace: bind(WorkspaceService, transport, binding),
    token: bind(TokenService, transport, binding),
    worker: bind(WorkerService, transport, binding),
  };
}

type Unary = (request: object, options?: CallOptions & Pick<Binding, "headers">) => Promise<unknown>;
type Streaming = (request: object, options?: CallOptions & Pick<Binding, "headers">) => AsyncIterable<unknown>;

/** Connect's own client, with requests checked and errors converted once, here. */
function bind<S extends DescService>(service: S, transport: Transport, binding: Binding): Client<S> {
  const client = createClient(service, transport) as unknown as Record<string, Unary | Streaming>;
  const bound: Record<string, unknown> = {};
  for (const method of service.methods) {
    const call = client[method.localName] as Unary | Streaming;
    bound[method.localName] = method.methodKind === "unary" ? unary(method, call as Unary, binding) : streaming(method, call as Streaming, binding);
  }
  return bound as Client<S>;
}

function unary(method: DescMethod, call: Unary, { headers, closed }: Binding) {
  return async (init: object, options?: CallOptions): Promise<unknown> => {
    const request = toRequest(method, init, closed);
    try {
      return await call(request, { ...options, headers });
    } catch (error) {
      throw failure(error, method, request, closed, options);
    }
  };
}

function streaming(method: DescMethod, call: Streaming, { headers, closed }: Binding) {
  return async function* (init: object, options?: CallOptions): AsyncGenerator {
    const request = toRequest(method, init, closed);
    try {
      yield* call(request, { ...options, headers });
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
