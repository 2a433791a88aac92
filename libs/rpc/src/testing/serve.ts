import { createHash } from "node:crypto";
import type { StoredPrincipal } from "@forge/engine/ports";
import { type Server, type ServerOptions, startServer } from "../server.ts";
import { fakeApis, type Overrides, type ReceivedCall } from "./fake-apis.ts";

export const CLIENT_TOKEN = "forge_client_0123456789";
export const WORKER_TOKEN = "forge_worker_0123456789";

const PRINCIPALS: ReadonlyMap<string, StoredPrincipal> = new Map([
  [hashOf(CLIENT_TOKEN), { id: "tester", role: "admin", namespaces: ["default", "other"], queues: [] }],
  [hashOf(WORKER_TOKEN), { id: "worker:tester", role: "worker", namespaces: ["default"], queues: ["gpu"] }],
]);

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** A real server on fake services, with what it was asked and what it logged. */
export interface Served extends Server {
  readonly received: readonly ReceivedCall[];
  readonly bugs: readonly { readonly error: unknown; readonly id: string }[];
}

export async function serve(overrides: Overrides = {}, options: Partial<ServerOptions> = {}): Promise<Served> {
  const { apis, received } = fakeApis(overrides);
  const bugs: { error: unknown; id: string }[] = [];
  const server = await startServer({
    apis,
    port: 0,
    findPrincipal: async (hash) => PRINCIPALS.get(Buffer.from(hash).toString("hex")),
    onBug: (error, id) => bugs.push({ error, id }),
    ...options,
  });
  return { ...server, received, bugs };
}
