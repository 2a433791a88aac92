import type { DescService, Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createContextKey, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import type { StoredPrincipal } from "@forge/engine/ports";
import type { Call } from "@forge/protocol";
import type { Activity } from "./activity.ts";
import { type Authenticate, namespaceOf } from "./authenticate.ts";
import { checkRole } from "./callers.ts";
import { OpenStreams, RECHECK_MS } from "./open-streams.ts";
import { SERVICES, type ServedApis } from "./services.ts";
import { toForgeError, toStatus } from "./status.ts";
import type { StreamQuota } from "./stream-quota.ts";

export interface RoutesOptions {
  readonly apis: ServedApis;
  readonly authenticate: Authenticate;
  readonly streams: StreamQuota;
  readonly activity: Activity;
  readonly onBug: (error: unknown, id: string) => void;
}

type Unary = (request: Message, call: Call) => Promise<Message>;
type Streaming = (request: Message, call: Call) => AsyncIterable<Message>;

/** Who calls, once that is known. */
interface Caller {
  readonly principal: StoredPrincipal;
  readonly namespace: string;
}

const CALLER = createContextKey<Caller | undefined>(undefined, { description: "who calls" });

/** Calls that wait for up to a minute: their callers are looked at again meanwhile, as those of streams are. */
const LONG_POLLS: ReadonlySet<string> = new Set(["LeaseTasks"]);

/** Serves every method of every service: who calls is found out before anything of the request is read, errors are converted once, here. */
export function createRoutes(options: RoutesOptions): (router: ConnectRouter) => void {
  const requestGate = async (context: HandlerContext): Promise<void> => {
    try {
      context.values.set(CALLER, await callerOf(context, options));
    } catch (error) {
      throw toStatus(toForgeError(error, options.onBug));
    }
  };
  const openStreams = new OpenStreams();
  return (router) => {
    for (const { service, api } of SERVICES) {
      const functions = options.apis[api] as unknown as Record<string, Unary | Streaming>;
      const implementation: Record<string, unknown> = {};
      for (const method of service.methods) {
        const handler = functions[method.localName];
        if (handler === undefined) throw new Error(`no function for ${service.typeName}.${method.name}`);
        implementation[method.localName] =
          method.methodKind !== "unary"
            ? streaming(handler as Streaming, options, openStreams)
            : LONG_POLLS.has(method.name)
              ? longPoll(handler as Unary, options, openStreams)
              : unary(handler as Unary, options);
      }
      router.service(service, implementation as Partial<ServiceImpl<DescService>>, { requestGate });
    }
  };
}

interface Admitted {
  readonly call: Call;
  readonly end: () => void;
}

/** Errors: unauthenticated; permission_denied. */
async function callerOf(context: HandlerContext, options: RoutesOptions, ageMsMax?: number): Promise<Caller> {
  const principal = await options.authenticate(context.requestHeader.get("authorization"), ageMsMax);
  checkRole(principal.role, context.method);
  return { principal, namespace: namespaceOf(principal, context.requestHeader.get("forge-namespace")) };
}

function admit(context: HandlerContext, options: RoutesOptions, signal = context.signal): Admitted {
  const caller = context.values.get(CALLER);
  if (caller === undefined) throw new Error(`nobody asked who calls ${context.method.name}`);
  const { principal, namespace } = caller;
  const contentType = context.requestHeader.get("content-type") ?? "";
  const call: Call = {
    namespace,
    principal: principal.id,
    role: principal.role,
    namespaces: principal.namespaces,
    expiresAtMs: principal.expiresAtMs,
    signal,
    queues: principal.queues,
    binary: !contentType.includes("json"),
  };
  return { call, end: principal.role === "worker" ? () => undefined : options.activity.begin() };
}

function unary(handler: Unary, options: RoutesOptions) {
  return async (request: Message, context: HandlerContext): Promise<Message> => {
    let admitted: Admitted | undefined;
    try {
      admitted = admit(context, options);
      return await handler(request, admitted.call);
    } catch (error) {
      throw toStatus(toForgeError(error, options.onBug));
    } finally {
      admitted?.end();
    }
  };
}

function longPoll(handler: Unary, options: RoutesOptions, openStreams: OpenStreams) {
  return async (request: Message, context: HandlerContext): Promise<Message> => {
    let lasting: Lasting | undefined;
    try {
      lasting = admitLasting(context, options, openStreams);
      const answer = await handler(request, lasting.call);
      // What it was given goes to another, once its leases end.
      lasting.refused.throwIfAborted();
      return answer;
    } catch (error) {
      throw toStatus(toForgeError(error, options.onBug));
    } finally {
      lasting?.end();
    }
  };
}

interface Lasting extends Admitted {
  /** Aborted, with the reason, when the caller may no longer have what it has open. */
  readonly refused: AbortSignal;
}

/** A call that may last, and ends when its caller's token does. */
function admitLasting(context: HandlerContext, options: RoutesOptions, openStreams: OpenStreams): Lasting {
  const refused = new AbortController();
  const { call, end } = admit(context, options, AbortSignal.any([context.signal, refused.signal]));
  const recheck = () => callerOf(context, options, RECHECK_MS);
  const { requestHeader: headers, method } = context;
  // What the answer depends on, and nothing else.
  const caller = JSON.stringify([headers.get("authorization"), headers.get("forge-namespace"), method.parent.typeName, method.name]);
  const forget = openStreams.add(caller, recheck, (refusal) => refused.abort(refusal));
  return {
    call,
    refused: refused.signal,
    end: () => {
      forget();
      end();
    },
  };
}

function streaming(handler: Streaming, options: RoutesOptions, openStreams: OpenStreams) {
  return async function* (request: Message, context: HandlerContext): AsyncGenerator<Message> {
    const ends: (() => void)[] = [];
    try {
      const { call, refused, end } = admitLasting(context, options, openStreams);
      ends.push(end);
      ends.push(options.streams.take(call.principal));
      for await (const message of handler(request, call)) {
        refused.throwIfAborted();
        try {
          yield message;
        } catch (error) {
          // What is thrown in while a message is on its way out says that nobody takes it any more: the end of the call, and no bug.
          throw new ConnectError("the caller is gone", Code.Canceled, undefined, undefined, error);
        }
      }
      // Services end a stream quietly when its signal says so; who reads it is told why it ended.
      call.signal.throwIfAborted();
    } catch (error) {
      throw toStatus(toForgeError(error, options.onBug));
    } finally {
      for (const end of ends.toReversed()) end();
    }
  };
}
