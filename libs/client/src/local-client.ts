import { create, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { type Api, type Call, type CallOptions, type Client, checkText, ForgeError, type Role } from "@forge/protocol";
import { ArtifactService } from "@forge/protocol/artifact";
import { ErrorCode } from "@forge/protocol/common";
import { ApprovalService, EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { TokenService } from "@forge/protocol/token";
import { WorkerService } from "@forge/protocol/worker";
import { ScheduleService, WorkflowService } from "@forge/protocol/workflow";
import { WorkspaceService } from "@forge/protocol/workspace";
import { clientClosed, givenUp } from "./cancelled.ts";
import { Deadline } from "./deadline.ts";
import type { ConnectClient } from "./forge-client.ts";

/** The services of a control plane in this process. */
export interface LocalApis {
  readonly session: Api<typeof SessionService>;
  readonly workflow: Api<typeof WorkflowService>;
  readonly schedule: Api<typeof ScheduleService>;
  readonly event: Api<typeof EventService>;
  readonly approval: Api<typeof ApprovalService>;
  readonly artifact: Api<typeof ArtifactService>;
  readonly workspace: Api<typeof WorkspaceService>;
  readonly token: Api<typeof TokenService>;
  readonly worker: Api<typeof WorkerService>;
}

/** Who calls, in process, with whatever role; absent: admin. Only a worker is held to it here: its reads need their leases. */
export type LocalCaller = Omit<Call, "signal" | "binary" | "role"> & { readonly role?: Role };

/** The same interface without a wire: calls go straight to the services, and fail as they would over one. */
export function createLocalClient(apis: LocalApis, caller: LocalCaller): ConnectClient {
  const closed = new AbortController();
  return {
    session: bindLocal(SessionService, apis.session, caller, closed.signal),
    workflow: bindLocal(WorkflowService, apis.workflow, caller, closed.signal),
    schedule: bindLocal(ScheduleService, apis.schedule, caller, closed.signal),
    event: bindLocal(EventService, apis.event, caller, closed.signal),
    approval: bindLocal(ApprovalService, apis.approval, caller, closed.signal),
    artifact: bindLocal(ArtifactService, apis.artifact, caller, closed.signal),
    workspace: bindLocal(WorkspaceService, apis.workspace, caller, closed.signal),
    token: bindLocal(TokenService, apis.token, caller, closed.signal),
    worker: bindLocal(WorkerService, apis.worker, caller, closed.signal),
    close: async () => closed.abort(),
  };
}

type Unary = (request: object, call: Call) => Promise<unknown>;
type Streaming = (request: object, call: Call) => AsyncIterable<unknown>;

function bindLocal<S extends DescService>(service: S, api: Api<S>, caller: LocalCaller, closed: AbortSignal): Client<S> {
  const functions = api as unknown as Record<string, Unary | Streaming>;
  const bound: Record<string, unknown> = {};
  for (const method of service.methods) {
    const handler = functions[method.localName] as Unary | Streaming;
    const admit = (init: object, options: CallOptions = {}): Admitted => {
      if (closed.aborted) throw clientClosed();
      if (options.signal?.aborted === true) throw givenUp();
      const request = toRequest(method, init);
      const deadline = options.timeoutMs === undefined ? undefined : new Deadline(options.timeoutMs);
      const signals = [closed, options.signal, deadline?.signal].filter((signal) => signal !== undefined);
      const signal = signals.length === 1 ? closed : AbortSignal.any(signals);
      return { request, call: { ...caller, role: caller.role ?? "admin", signal }, end: () => deadline?.clear() };
    };
    bound[method.localName] = method.methodKind === "unary" ? unary(handler as Unary, admit) : streaming(handler as Streaming, admit);
  }
  return bound as Client<S>;
}

interface Admitted {
  readonly request: object;
  readonly call: Call;
  readonly end: () => void;
}

type Admit = (init: object, options?: CallOptions) => Admitted;

function unary(handler: Unary, admit: Admit) {
  return async (init: object, options?: CallOptions): Promise<unknown> => {
    const { request, call, end } = admit(init, options);
    try {
      return await handler(request, call);
    } catch (error) {
      throw toForgeError(error, call.signal);
    } finally {
      end();
    }
  };
}

function streaming(handler: Streaming, admit: Admit) {
  return async function* (init: object, options?: CallOptions): AsyncGenerator {
    const { request, call, end } = admit(init, options);
    try {
      for await (const message of handler(request, call)) {
        yield message;
        // It may have been given up while its reader was busy.
        if (call.signal.aborted) break;
      }
    } catch (error) {
      throw toForgeError(error, call.signal);
    } finally {
      end();
    }
    // Services end a stream quietly when its caller is gone; the caller is told why it ended.
    if (call.signal.aborted) throw endOf(call.signal);
  };
}

function toRequest(method: DescMethod, init: object): object {
  const request = create(method.input, init as never);
  checkText(request);
  return request;
}

/** Services throw ForgeErrors; anything else is a bug, or the end of a call that was given up. */
function toForgeError(error: unknown, signal: AbortSignal): ForgeError {
  if (error instanceof ForgeError) return error;
  if (signal.aborted) return endOf(signal);
  return new ForgeError(ErrorCode.INTERNAL, `an internal error: ${error instanceof Error ? error.message : String(error)}`, {
    origin: "control-plane",
    cause: error,
  });
}

/** Why a call was ended from this side. */
function endOf({ reason }: AbortSignal): ForgeError {
  return reason instanceof ForgeError ? reason : givenUp();
}
