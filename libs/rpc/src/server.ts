import type { AddressInfo, Server as NetServer } from "node:net";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { Health as HealthService } from "@forge/protocol/grpc-health";
import { Activity } from "./activity.ts";
import { createAuthenticator, type FindPrincipal } from "./authenticate.ts";
import { refuseBrowser } from "./browser-guard.ts";
import { letOriginIn } from "./cross-origin.ts";
import { Front, type Handle } from "./front.ts";
import { Health } from "./health/health.ts";
import { createHealthRoutes, HEALTH_PATH } from "./health/routes.ts";
import { createReflectionRoutes, REFLECTION_SERVICES } from "./reflection/routes.ts";
import { createRoutes, type RoutesOptions } from "./routes.ts";
import { SERVICES, type ServedApis } from "./services.ts";
import { StreamQuota } from "./stream-quota.ts";

export interface ServerOptions {
  readonly apis: ServedApis;
  readonly findPrincipal: FindPrincipal;
  /** Absent: 127.0.0.1. */
  readonly host?: string;
  /** 0: any free one. */
  readonly port: number;
  /** Browser origins, beside its own, that may call; absent: none. */
  readonly origins?: readonly string[];
  /** Host names, beside those of loopback, under which the server is known. */
  readonly hosts?: readonly string[];
  readonly onBug: (error: unknown, id: string) => void;
}

export interface Server {
  readonly url: string;
  readonly port: number;
  /** Calls of clients that are open now, and when one last began or ended, in milliseconds since the epoch. Workers' calls don't count. */
  readonly activity: Activity;
  /** Refuses new connections, ends the open ones, and resolves when all are closed. */
  close(): Promise<void>;
}

/** An artifact of 16 MiB as base64 in JSON, and its envelope. */
const READ_BYTES_MAX = 22 * 1024 * 1024;
/** An event is smaller than this and is not worth a trip to the compressing threads, which costs more time than the bytes do on any network nearby. */
const COMPRESS_BYTES_MIN = 64 * 1024;
const STREAMS_PER_CALLER_MAX = 2_000;
/** Long enough for any network, short enough that who says nothing holds no connection for long. */
const PATIENCE_MS = 10_000;
/** Each costs some tens of kilobytes. */
const CONNECTIONS_MAX = 10_000;
const DEFAULT_HOST = "127.0.0.1";
/** A server that listens everywhere is reached over loopback, too. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Serves Connect, gRPC and gRPC-web on one port, over HTTP/1.1 and unencrypted HTTP/2. Errors: conflict PORT_IN_USE; validation of host and port. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const activity = new Activity();
  const routes: RoutesOptions = {
    apis: options.apis,
    authenticate: createAuthenticator(options.findPrincipal),
    streams: new StreamQuota(STREAMS_PER_CALLER_MAX),
    activity,
    onBug: options.onBug,
  };
  const services = [...SERVICES.map(({ service }) => service), HealthService, ...REFLECTION_SERVICES];
  const health = new Health(services.map(({ typeName }) => typeName));
  const adapter = connectNodeAdapter({
    routes: (router) => {
      createRoutes(routes)(router);
      createHealthRoutes(health, options.onBug)(router);
      createReflectionRoutes(services, routes)(router);
    },
    readMaxBytes: READ_BYTES_MAX,
    compressMinBytes: COMPRESS_BYTES_MIN,
    // The contract's own names; and what is not in the contract, an enum's value for one, is refused instead of passed over.
    jsonOptions: { useProtoFieldName: true, ignoreUnknownFields: false },
    fallback: (_, response) => {
      response.statusCode = 404;
      response.end();
    },
  });
  const hosts = new Set((options.hosts ?? []).map((host) => host.toLowerCase()));
  const guard = { origins: new Set(options.origins ?? []), hosts };
  const handle: Handle = (request, response) => {
    // It tells nothing, and a probe comes under whatever address it knows.
    if (request.url === "/healthz") {
      response.statusCode = 200;
      response.end("ok\n");
      return;
    }
    const refusal = request.url?.startsWith(HEALTH_PATH) === true ? undefined : refuseBrowser(request.headers, guard);
    if (refusal !== undefined) {
      response.statusCode = 403;
      response.end(refusal);
      return;
    }
    if (letOriginIn(request, response)) return;
    adapter(request, response);
  };
  const front = new Front(handle, { prefaceMs: PATIENCE_MS, headersMs: PATIENCE_MS, connectionsMax: CONNECTIONS_MAX });
  await listen(front.server, options.port, options.host ?? DEFAULT_HOST);
  const bound = front.server.address() as AddressInfo;
  const address = LOOPBACK_OF[bound.address] ?? bound.address;
  const shown = address.includes(":") ? `[${address}]` : address;
  hosts.add(shown);
  if (options.host !== undefined) hosts.add(options.host.toLowerCase());
  return { url: `http://${shown}:${bound.port}`, port: bound.port, activity, close: () => front.close() };
}

function listen(server: NetServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const metadata = { host, port: String(port) };
      if (error.code === "EADDRINUSE")
        reject(
          new ForgeError(ErrorCode.CONFLICT, `port ${port} of ${host} is in use: choose another, or 0 for any free one`, { reason: "PORT_IN_USE", metadata }),
        );
      else reject(ForgeError.validation("host", `can't listen on port ${port} of ${host}: ${error.message}`, { metadata, cause: error }));
    });
    server.listen(port, host, () => resolve());
  });
}
