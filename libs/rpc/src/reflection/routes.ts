import type { DescService } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { ServerReflection } from "@forge/protocol/grpc-reflection";
import { ServerReflection as ServerReflectionAlpha } from "@forge/protocol/grpc-reflection-v1alpha";
import type { RoutesOptions } from "../routes.ts";
import { toForgeError, toStatus } from "../status.ts";
import { answer } from "./answer.ts";
import { Descriptors } from "./descriptors.ts";

/** Requests name a file or a symbol. */
const READ_BYTES_MAX = 16 * 1024;

/** What tools ask a server about its contracts with, in both versions that they speak. */
export const REFLECTION_SERVICES: readonly DescService[] = [ServerReflection, ServerReflectionAlpha];

/** Lets tools such as grpcurl ask for the contracts of services. It takes any credential that the server knows. */
export function createReflectionRoutes(
  services: readonly DescService[],
  options: Pick<RoutesOptions, "authenticate" | "streams" | "onBug">,
): (router: ConnectRouter) => void {
  const descriptors = new Descriptors(services);
  const handlerOptions = { readMaxBytes: READ_BYTES_MAX };
  return (router) => {
    const reflect = async function* <Request extends { readonly host: string; readonly messageRequest: Parameters<typeof answer>[0] }>(
      requests: AsyncIterable<Request>,
      context: HandlerContext,
    ) {
      let release: (() => void) | undefined;
      try {
        const principal = await options.authenticate(context.requestHeader.get("authorization"));
        release = options.streams.take(principal.id);
        const sent = new Set<string>();
        for await (const request of requests) {
          yield { validHost: request.host, originalRequest: request, messageResponse: answer(request.messageRequest, descriptors, sent) };
        }
      } catch (error) {
        throw toStatus(toForgeError(error, options.onBug));
      } finally {
        release?.();
      }
    };
    router.service(ServerReflection, { serverReflectionInfo: reflect } satisfies Partial<ServiceImpl<typeof ServerReflection>>, handlerOptions);
    router.service(ServerReflectionAlpha, { serverReflectionInfo: reflect } satisfies Partial<ServiceImpl<typeof ServerReflectionAlpha>>, handlerOptions);
  };
}
