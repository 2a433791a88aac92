import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { StoredPrincipal } from "@forge/engine/ports";
import { type Call, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Activity } from "./activity.ts";
import { namespaceOf } from "./authenticate.ts";
import { mayCall, SERVICES, type ServedApis } from "./services.ts";
import { toForgeError, toStatus } from "./status.ts";
import type { StreamQuota } from "./stream-quota.ts";

export interface RoutesOptions {
  readonly apis: ServedApis;
  readonly authenticate: (authorization: string | null) => Promise<StoredPrincipal>;
  readonly streams: StreamQuota;
  readonly activity: Activity;
  readonly onBug: (error: unknown, id: string) => void;
}

type Unary = (request: Message, call: Call) => Promise<Message>;
type Streaming = (request: Message, call: Call) => AsyncIterable<Message>;

/** Serves every method of every service: who calls is found out first, errors are converted once, here. */
export function createRoutes(options: RoutesOptions): (router: ConnectRouter) => void {
  return (router) => {
    for (const { service, api } of SERVICES) {
      const functions = options.apis[api] as unknown as Record<string, Unary | Streaming>;
      const implementation: Record<string, unknown> = {};
      for (const method of service.methods) {
        const handler = functions[method.localName];
        if (handler === undefined) throw new Error(`no function for ${service.typeName}.${method.name}`);
        implementation[method.localName] =
          method.methodKind === "unary" ? unary(handler as Unary, method, options) : streaming(handler as Streaming, method, options);
      }
      router.service(service, implementation as Partial<ServiceImpl<DescService>>);
    }
  };
}

interface Admitted {
  readonly call: Call;
  readonly end: () => void;
}

async function admit(context: HandlerContext, method: DescMethod, options: RoutesOptions): Promise<Admitted> {
  const principal = await options.authenticate(context.requestHeader.get("authorization"));
  const service = method.parent.name;
  if (!mayCall(principal.kind, service, method.name)) {
    throw new ForgeError(ErrorCode.PERMISSION_DENIED, `a ${principal.kind}'s credential may not call ${service}.${method.name}`);
  }
  const contentType = context.requestHeader.get("content-type") ?? "";
  const call: Call = {
    namespace: namespaceOf(principal, context.requestHeader.get("forge-namespace")),
    principal: principal.id,
    signal: context.signal,
    queues: principal.queues,
    binary: !contentType.includes("json"),
  };
  return { call, end: principal.kind === "client" ? options.activity.begin() : () => undefined };
}

function unary(handler: Unary, method: DescMethod, options: RoutesOptions) {
  return async (request: Message, context: HandlerContext): Promise<Message> => {
    let admitted: Admitted | undefined;
    try {
      admitted = await admit(context, method, options);
      return await handler(request, admitted.call);
    } catch (error) {
      throw toStatus(toForgeError(error, options.onBug));
    } finally {
      admitted?.end();
    }
  };
}

function streaming(handler: Streaming, method: DescMethod, options: RoutesOptions) {
  return async function* (request: Message, context: HandlerContext): AsyncGenerator<Message> {
    let admitted: Admitted | undefined;
    let release: (() => void) | undefined;
    try {
      admitted = await admit(context, method, options);
      release = options.streams.take(admitted.call.principal);
      yield* handler(request, admitted.call);
    } catch (error) {
      throw toStatus(toForgeError(error, options.onBug));
    } finally {
      release?.();
      admitted?.end();
    }
  };
}
