import { readFile } from "node:fs/promises";
import path from "node:path";
import type { ForgeClient } from "@forge/client";
import type { Run } from "@forge/protocol/workflow";
import { findForge } from "./find-forge.ts";
import { type RunOptions, runWorkflow } from "./run-workflow.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

/** How a private server is started. */
export interface LocalForgeOptions {
  /** The project whose functions and settings it takes, and whose files its built-in tools work on. Absent: the nearest one above the working directory, or that directory. */
  readonly project?: string;
  /** Where everything durable lies, made where it is missing; no other server may use it. Absent: a temporary directory, which the server removes at its end. */
  readonly dataDirectory?: string;
  /** The command line of Forge and the arguments before `up`. Absent: `forge` of the packages that this program, or this package, has installed; else of PATH. */
  readonly command?: readonly string[];
  /** Of the server; absent: this program's. Keys of model providers are read from it. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A private server, for as long as this program lives. */
export interface LocalForge extends AsyncDisposable {
  readonly client: ForgeClient;
  readonly url: string;
  /** An administrator's. */
  readonly token: string;
  /** For `serve` and other workers. */
  readonly workerToken: string;
  readonly dataDirectory: string;
  /**
   * Starts a workflow that is named as on the command line, and resolves when the run has ended, also where it failed: `status` and `error` tell. Paths and ids
   * are of the project. Errors: not_found and validation of the workflow and its inputs; cancelled by the signal.
   */
  run(workflow: string, options?: RunOptions): Promise<Run>;
  /** Ends the server, after what is running, and resolves when it has gone. */
  close(): Promise<void>;
}

async function local(options: LocalForgeOptions = {}): Promise<LocalForge> {
  const { project, dataDirectory, environment = process.env } = options;
  const command = options.command ?? (await findForge());
  const server = await startServerProcess(
    [
      ...command,
      "up",
      "--json",
      "--until-stdin-ends",
      "--port",
      "0",
      ...(project === undefined ? [] : ["--project", path.resolve(project)]),
      ...(dataDirectory === undefined ? ["--temporary"] : ["--data-directory", path.resolve(dataDirectory)]),
    ],
    environment,
  );
  try {
    return await connect(server, path.resolve(project ?? "."));
  } catch (error) {
    await server.end();
    throw error;
  }
}

async function connect(server: ServerProcess, directory: string): Promise<LocalForge> {
  const { url, dataDirectory } = server;
  const read = async (name: string): Promise<string> => (await readFile(path.join(dataDirectory, name), "utf8")).trim();
  const [token, workerToken] = await Promise.all([read("token"), read("worker-token")]);
  const { createConnectClient } = await import("@forge/client");
  const client = createConnectClient({ url, token });
  const close = async (): Promise<void> => {
    await client.close();
    await server.end();
  };
  const run = (workflow: string, options: RunOptions = {}): Promise<Run> => runWorkflow(client, directory, workflow, options);
  return { client, url, token, workerToken, dataDirectory, run, close, [Symbol.asyncDispose]: close };
}

/**
 * Forge inside of a program. `Forge.local()` starts a server of the program's own, with a database of its own, and resolves when it is ready; it ends with
 * `close()`, and with the program, however that ends. Errors: what the server could not start for, for example conflict DATA_DIRECTORY_IN_USE.
 */
export const Forge = { local } as const;
