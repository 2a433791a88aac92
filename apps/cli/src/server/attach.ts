import { readFile } from "node:fs/promises";
import path from "node:path";
import { type ConnectClient, createConnectClient } from "@forge/client";
import { type Address, dataDirectoryOf, readAddress } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

export interface Attached {
  readonly client: ConnectClient;
  readonly address: Address;
}

/** A server that is there answers at once; one that hangs is as good as gone. */
const ANSWER_MS_MAX = 5_000;

/** A client of the server that serves the project now; undefined where none answers. Errors: unauthenticated where it does not know the token beside its data. */
export async function attach(root: string): Promise<Attached | undefined> {
  const dataDirectory = dataDirectoryOf(root);
  const address = await readAddress(dataDirectory);
  if (address === undefined) return undefined;
  const client = createConnectClient({ url: address.url, token: await tokenBeside(dataDirectory) });
  try {
    await client.workflow.listRuns({ pageSize: 1 }, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return { client, address };
  } catch (error) {
    // One that answers with an error of its own is there, whatever is wrong with it.
    const isAnswer = error instanceof ForgeError && error.detail.origin !== "client";
    if (isAnswer && error.code !== ErrorCode.UNAUTHENTICATED) return { client, address };
    await client.close();
    // Nobody listens there, or something else does: the address is a left-over.
    if (!isAnswer) return undefined;
    throw new ForgeError(
      ErrorCode.UNAUTHENTICATED,
      `process ${address.pid} at ${address.url} does not know the token in ${dataDirectory}: end it (npx forge down) and try again`,
      { cause: error },
    );
  }
}

/** The server's own token; one that was lost is not made anew here, since the server would not know it. */
async function tokenBeside(dataDirectory: string): Promise<string> {
  try {
    return (await readFile(path.join(dataDirectory, "token"), "utf8")).trim().replaceAll(/[^\w-]/g, "?");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "none";
    throw error;
  }
}
