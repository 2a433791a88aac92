import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createClient, createJsonLinesClient, type ForgeClient, type TransportName } from "@forge/client";
import { createWebClient } from "@forge/client/web";

const FORGE = fileURLToPath(new URL("../../apps/cli/src/main.ts", import.meta.url));
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

/** `forge rpc` in a project that is served at the address. */
export async function startJsonLines({ url, token }: Server): Promise<ForgeClient> {
  const root = await mkdtemp(path.join(tmpdir(), "forge-lines-"));
  const dataDirectory = path.join(root, ".forge", "data");
  await mkdir(dataDirectory, { recursive: true });
  await writeFile(path.join(dataDirectory, "token"), token, { mode: 0o600 });
  await writeFile(path.join(dataDirectory, "address.json"), JSON.stringify({ url, pid: process.pid, startedAt: new Date().toISOString(), version: "0" }));
  const client = createJsonLinesClient({ command: process.execPath, args: [FORGE, "rpc"], cwd: root, env: { ...process.env, DATABASE_URL: "" } });
  return {
    ...client,
    close: async () => {
      await client.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}
