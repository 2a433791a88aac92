import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fromJson } from "@bufbuild/protobuf";
import { type Address, dataDirectoryOf, readAddress } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { prepareLogFile } from "./server-log.ts";

/** A server makes much garbage that dies at once: with room for it, a tenth of its time is not spent on moving it. In MiB for each half. */
const YOUNG_SPACE = "--max-semi-space-size=64";

export interface BackgroundOptions {
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Arguments of `forge up` beside the project. */
  readonly arguments: readonly string[];
  /** Another server that was faster is an error. */
  readonly mustBeNew?: boolean;
}

/** A cluster that is recovering after a crash takes longest. */
const START_MS_MAX = 180_000;
const LOOK_MS = 20;

/**
 * Starts `forge up` in a process and session of its own and waits until the project has a server, which may be another one that was faster.
 * Errors: what the server could not start for; conflict DATA_DIRECTORY_IN_USE where whoever holds the data has no address (yet).
 */
export async function startBackground({ root, environment, arguments: given, mustBeNew }: BackgroundOptions): Promise<Address> {
  const dataDirectory = dataDirectoryOf(root);
  const file = await prepareLogFile(dataDirectory);
  const log = await open(file, "a", 0o600);
  const begin = (await stat(file)).size;
  const child = spawn(process.execPath, [...process.execArgv, YOUNG_SPACE, process.argv[1] as string, "up", "--project", root, "--json", ...given], {
    cwd: root,
    env: environment,
    detached: true,
    stdio: ["ignore", log.fd, log.fd],
  });
  await once(child, "spawn");
  await log.close();
  child.unref();
  const deadline = Date.now() + START_MS_MAX;
  while (Date.now() < deadline) {
    const address = await readAddress(dataDirectory);
    if (address !== undefined && (address.pid === child.pid || (child.exitCode !== null && mustBeNew !== true))) return address;
    if (child.exitCode !== null || child.signalCode !== null) throw await failure(file, begin, child.exitCode ?? child.signalCode);
    await sleep(LOOK_MS);
  }
  throw new ForgeError(ErrorCode.STORAGE_ERROR, `Forge (process ${child.pid}) was not ready after ${START_MS_MAX / 1000} s: see ${file}`, {
    reason: "SERVER_START",
    origin: "client",
  });
}

/** What the server wrote last: its error as JSON, or whatever ended it. */
async function failure(file: string, begin: number, end: number | string | null): Promise<ForgeError> {
  const written = (await readFile(file)).subarray(begin).toString("utf8").trimEnd().split("\n");
  for (const line of written.toReversed()) {
    if (!line.startsWith('{"error":')) continue;
    const { error } = JSON.parse(line) as { error: { code: string } };
    return ForgeError.from(fromJson(ForgeErrorSchema, { ...error, code: `ERROR_CODE_${error.code}` }, { ignoreUnknownFields: true }));
  }
  const tail = written.slice(-5).join("\n");
  return new ForgeError(ErrorCode.STORAGE_ERROR, `Forge could not be started (${end}): see ${file}${tail === "" ? "" : `\n${tail}`}`, {
    reason: "SERVER_START",
    origin: "client",
  });
}
