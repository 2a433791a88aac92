import type { TransportName } from "../client-options.ts";
import type { Connection } from "./connection.ts";
import { openGrpcJs } from "./grpc-js/open-grpc-js.ts";
import { openHttp1 } from "./http1.ts";
import { openHttp2 } from "./http2.ts";

/** The connection that a transport's name stands for. */
export function openConnection(url: string, name: TransportName): Connection {
  switch (name) {
    case "connect":
    case "connect-json":
    case "grpc":
      return openHttp2(url, name);
    case "connect-http1":
    case "connect-http1-json":
    case "grpc-web":
      return openHttp1(url, name);
    case "grpc-js":
      return openGrpcJs(url);
  }
}
