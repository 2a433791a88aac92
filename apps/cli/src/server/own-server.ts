import { homedir } from "node:os";
import type { ProjectServer, TrustState } from "@forge/host";
import { dataDirectoryOf } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import { trustOf } from "../agent/workspace-trust.ts";
import { describeDatabase, readProjectSettings } from "./project-settings.ts";
import { createLogger, prepareLogFile } from "./server-log.ts";
import { settleData } from "./settle-data.ts";

export interface OwnServerOptions {
  readonly root: string;
  /** Absent: the project's own. */
  readonly dataDirectory?: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly host?: string;
  readonly port?: number;
  /** Runs what the project brings only where people have trusted it; absent: whoever starts it has asked for its code to be run. */
  readonly trustedOnly?: boolean;
  /** It ends by itself when nobody uses it. */
  readonly endsWhenIdle?: boolean;
  /** Log to standard error instead of the file. */
  readonly logsToStandardError?: boolean;
  readonly onProgress?: (message: string) => void;
}

/** A project's server in this process, with what a person should know of it. */
export interface OwnServer {
  readonly server: ProjectServer;
  /** For people, without a password. */
  readonly database: string;
  readonly warnings: readonly string[];
}

/** Starts a project's server in this process. Errors: as startProjectServer; validation, CONFIG_VALIDATION. */
export async function startOwnServer(options: OwnServerOptions): Promise<OwnServer> {
  const { root, host, port, onProgress, dataDirectory = dataDirectoryOf(root) } = options;
  // A directory that a person names is one that he means.
  if (options.dataDirectory === undefined)
    await settleData({ root, dataDirectory, environment: options.environment, code: options.trustedOnly === true ? "trusted" : "all" });
  // Loading what serves takes longest and needs nothing of the settings.
  const [{ configDirectoryOf, readWorkspaceCode, startProjectServer }, trust] = await Promise.all([import("@forge/host"), readTrust(root, options)]);
  const isTrusted = trust.state === "trusted";
  const runsCode = isTrusted || options.trustedOnly !== true;
  const settings = await readProjectSettings(root, options.environment, { runsCode });
  const configDirectory = configDirectoryOf(options.environment, homedir());
  const code = await readWorkspaceCode(trust, configDirectory);
  const told = { runsCode, trusted: isTrusted ? trust.digest : "", endsWhenIdle: options.endsWhenIdle === true };
  const { project, databaseUrl, ...served } = settings;
  const file = options.logsToStandardError === true ? undefined : await prepareLogFile(dataDirectory);
  const logger = await createLogger({ file, level: project.config.logging.level });
  const server = await startProjectServer({
    root,
    dataDirectory,
    databaseUrl,
    ...served,
    isTrusted,
    code,
    configDirectory,
    told,
    host,
    port,
    logger,
    onProgress,
  });
  const broken = server.functionErrors.map(({ file: name, message }) => `${name} is not served: ${message}`);
  return { server, database: describeDatabase(databaseUrl), warnings: [...project.warnings, ...broken] };
}

/** What people have said of the project. Where there is more of it than can be looked at, nobody can have trusted it, and whoever asked for its code is served all the same. */
async function readTrust(root: string, { environment, trustedOnly }: OwnServerOptions): Promise<Pick<TrustState, "state" | "digest" | "texts">> {
  try {
    return await (await trustOf(environment)).readTrust(root);
  } catch (error) {
    if (trustedOnly === true || !(error instanceof ForgeError && error.reason === "TRUST_TOO_LARGE")) throw error;
    return { state: "untrusted", digest: "", texts: new Map() };
  }
}
