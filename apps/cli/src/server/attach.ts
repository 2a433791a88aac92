import { readFile } from "node:fs/promises";
import path from "node:path";
import { type ConnectClient, createConnectClient } from "@forge/client";
import { type Address, dataDirectoryOf, readAddress } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { askServer } from "./ask-server.ts";

export interface Attached {
  readonly client: ConnectClient;
  readonly address: Address;
}

/** A client of the server that serves the project now; undefined where none answers. Errors: unauthenticated where it does not know the token beside its data. */
export async function attach(root: string): Promise<Attached | undefined> {
  const dataDirectory = dataDirectoryOf(root);
  const address = await readAddress(dataDirectory);
  if (address === undefined) return undefined;
  const client = createConnectClient({ url: address.url, token: await tokenBeside(dataDirectory) });
  try {
    if ((await askServer(client)) === undefined) return { client, address };
    await client.close();
    // Nobody listens there, or something else does: the address is a left-over.
    return undefined;
  } catch (error) {
    await client.close();
    if (!(error instanceof ForgeError && error.code === ErrorCode.UNAUTHENTICATED)) throw error;
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
