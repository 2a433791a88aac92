import { readFile } from "node:fs/promises";
import path from "node:path";
import { type ConnectClient, createConnectClient } from "@forge/client";
import { dataDirectoryOf, readAddress } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { ProjectLink } from "../server/project-link.ts";
import type { Remote } from "../server/remote.ts";

/** What a worker needs of a client: each call goes to the server as it is now. */
type WorkerPort = Pick<ConnectClient, "worker" | "session" | "artifact">;

/** A server that nobody uses ends itself after a minute; a worker that stands by is a use. */
const KEEP_MS = 5_000;

/** A worker's connection to its control plane: one that was named, or the project's own server wherever that is at the time. */
export interface WorkerConnection {
  readonly port: WorkerPort;
  readonly url: string;
  readonly token: string;
  readonly namespace?: string;
  close(): Promise<void>;
}

/** The connection to a control plane that a person named. */
export function connectRemotely({ url, token, namespace }: Remote): WorkerConnection {
  const client = createConnectClient({ url, token, namespace });
  return { port: client, url, token, namespace, close: () => client.close() };
}

/** The connection to the project's own server, with the credential that it keeps for workers. `onMoved` gets the address of a server that took its place. */
export async function connectToProject(link: ProjectLink, onMoved: (url: string) => void, onProblem: (error: unknown) => void): Promise<WorkerConnection> {
  const dataDirectory = dataDirectoryOf(link.root);
  const [found, token] = await Promise.all([readAddress(dataDirectory), workerToken(dataDirectory)]);
  if (found === undefined)
    throw new ForgeError(ErrorCode.STORAGE_ERROR, `nobody serves ${link.root} any more: try again`, { reason: "SERVER_UNREACHABLE", origin: "client" });
  let { url } = found;
  let client = createConnectClient({ url, token });
  const follow = async (): Promise<void> => {
    await link.call(({ workflow }) => workflow.listRuns({ pageSize: 1 }));
    const address = await readAddress(dataDirectory);
    if (address === undefined || address.url === url) return;
    const before = client;
    url = address.url;
    client = createConnectClient({ url, token });
    await before.close();
    onMoved(url);
  };
  let following: Promise<void> | undefined;
  const timer = setInterval(() => {
    following ??= follow()
      .catch(onProblem)
      .finally(() => {
        following = undefined;
      });
  }, KEEP_MS);
  return {
    port: {
      get worker() {
        return client.worker;
      },
      get session() {
        return client.session;
      },
      get artifact() {
        return client.artifact;
      },
    },
    get url() {
      return url;
    },
    token,
    close: async () => {
      clearInterval(timer);
      await following;
      await client.close();
    },
  };
}

async function workerToken(dataDirectory: string): Promise<string> {
  try {
    return (await readFile(path.join(dataDirectory, "worker-token"), "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new ForgeError(ErrorCode.UNAUTHENTICATED, "the running Forge is of a version without tokens for workers: end it (npx forge down) and try again", {
      origin: "client",
      cause: error,
    });
  }
}
