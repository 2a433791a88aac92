import { create, type DescService } from "@bufbuild/protobuf";
import type { Api, Call, CallOptions, Client } from "@forge/protocol";
import { ArtifactService } from "@forge/protocol/artifact";
import { ApprovalService, EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { WorkerService } from "@forge/protocol/worker";
import { WorkflowService } from "@forge/protocol/workflow";
import type { ConnectClient } from "./connect-client.ts";

/** The services of a control plane in this process. */
export interface LocalApis {
  readonly session: Api<typeof SessionService>;
  readonly workflow: Api<typeof WorkflowService>;
  readonly event: Api<typeof EventService>;
  readonly approval: Api<typeof ApprovalService>;
  readonly artifact: Api<typeof ArtifactService>;
  readonly worker: Api<typeof WorkerService>;
}

/** Who calls, in process. */
export type LocalCaller = Omit<Call, "signal" | "binary">;

/** The same interface without a wire: calls go straight to the services. */
export function createLocalClient(apis: LocalApis, caller: LocalCaller): ConnectClient {
  const closed = new AbortController();
  return {
    session: bindLocal(SessionService, apis.session, caller, closed.signal),
    workflow: bindLocal(WorkflowService, apis.workflow, caller, closed.signal),
    event: bindLocal(EventService, apis.event, caller, closed.signal),
    approval: bindLocal(ApprovalService, apis.approval, caller, closed.signal),
    artifact: bindLocal(ArtifactService, apis.artifact, caller, closed.signal),
    worker: bindLocal(WorkerService, apis.worker, caller, closed.signal),
    close: async () => closed.abort(),
  };
}

function bindLocal<S extends DescService>(service: S, api: Api<S>, caller: LocalCaller, closed: AbortSignal): Client<S> {
  const functions = api as unknown as Record<string, (request: object, call: Call) => unknown>;
  const bound: Record<string, unknown> = {};
  for (const method of service.methods) {
    const call = functions[method.localName] as (request: object, call: Call) => unknown;
    bound[method.localName] = (request: object, options?: CallOptions) =>
      call(create(method.input, request as never), { ...caller, signal: options?.signal === undefined ? closed : AbortSignal.any([closed, options.signal]) });
  }
  return bound as Client<S>;
}
