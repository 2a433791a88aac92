import type { Message } from "@bufbuild/protobuf";
import type { ForgeClient } from "@forge/client";
import type { ProjectLink } from "../server/project-link.ts";
import type { RpcMethod } from "./methods.ts";

/** Makes calls. Errors: ForgeErrors. */
export interface Caller {
  unary(method: RpcMethod, request: Message, signal: AbortSignal): Promise<Message>;
  stream(method: RpcMethod, request: Message, signal: AbortSignal): AsyncIterable<Message>;
}

type Unary = (request: Message, options: { readonly signal: AbortSignal }) => Promise<Message>;
type Streaming = (request: Message, options: { readonly signal: AbortSignal }) => AsyncIterable<Message>;

/** Calls a project's server, which is found or started again when it is lost. A stream that breaks after its first message is left to who reads it: he knows how far he came. */
export function linkCaller(link: Pick<ProjectLink, "call">): Caller {
  return {
    unary: (method, request, signal) => link.call((client) => (functionOf(client, method) as Unary)(request, { signal })),
    stream: async function* (method, request, signal) {
      const { stream, first } = await link.call(async (client) => {
        const stream = (functionOf(client, method) as Streaming)(request, { signal })[Symbol.asyncIterator]();
        return { stream, first: await stream.next() };
      });
      try {
        for (let next = first; next.done !== true; next = await stream.next()) yield next.value;
      } finally {
        await stream.return?.();
      }
    },
  };
}

function functionOf(client: ForgeClient, { service, method }: RpcMethod): unknown {
  return (client[service] as unknown as Readonly<Record<string, unknown>>)[method.localName];
}
