import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createClient, createJsonLinesClient, type ForgeClient, type TransportName } from "@forge/client";
import { createWebClient } from "@forge/client/web";

const FORGE = fileURLToPath(new URL("../../apps/cli/src/main.js", import.meta.url));
const TRANSPORTS: readonly TransportName[] = ["connect", "connect-json", "connect-http1", "connect-http1-json", "grpc", "grpc-web", "grpc-js"];

interface Server {
  readonly url: string;
  readonly token: string;
}

/** Every way to be a client of a server in TypeScript: what it is called, and a client for a server's address. Closing it leaves nothing. */
export const CLIENTS: readonly (readonly [string, (server: Server) => Promise<ForgeClient>])[] = [
  ...TRANSPORTS.map((transport) => [transport, async (server: Server) => createClient({ ...server, transport })] as const),
  ["fetch", async (server: Server) => createWebClient(server)],
  ["JSON lines", startJsonLines],
];

/** `forge rpc` as a client of the server, in a directory of its own. */
export async function startJsonLines({ url, token }: Server): Promise<ForgeClient> {
  const root = await mkdtemp(path.join(tmpdir(), "forge-lines-"));
  const env = { ...process.env, FORGE_URL: url, FORGE_TOKEN: token, DATABASE_URL: "" };
  const client = createJsonLinesClient({ command: process.execPath, args: [FORGE, "rpc"], cwd: root, env });
  return {
    ...client,
    close: async () => {
      await client.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}
