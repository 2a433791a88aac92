import type { Connection } from "../connection.ts";

/** gRPC by the library that most Node programs use for it. It is loaded with the first call: most never need it, and it takes a tenth of a second. */
export function openGrpcJs(url: string): Connection {
  let loading: Promise<Connection> | undefined;
  const load = (): Promise<Connection> => (loading ??= import("./connection.ts").then(({ connect }) => connect(url)));
  return {
    transport: {
      unary: async (...call) => (await load()).transport.unary(...call),
      stream: async (...call) => (await load()).transport.stream(...call),
    },
    close: () => {
      // What could not be loaded has failed its calls and needs no closing.
      void loading?.then(
        (connection) => connection.close(),
        () => undefined,
      );
    },
  };
}
