import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Tells whoever supervises this process, on this machine only, how it is. */
export interface Health {
  readonly port: number;
  /** From now on it ends, and is sent no more work. */
  drain(): void;
  close(): Promise<void>;
}

/** Answers GET /healthz: 200 while tasks are taken, 503 once it drains. Errors: a port that is in use. */
export async function serveHealth(port: number): Promise<Health> {
  let isDraining = false;
  const server = createServer((request, response) => {
    response.statusCode = request.url !== "/healthz" ? 404 : isDraining ? 503 : 200;
    response.end(request.url !== "/healthz" ? "" : isDraining ? "draining\n" : "ok\n");
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, "127.0.0.1", resolve);
  await promise;
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => {
      isDraining = true;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
