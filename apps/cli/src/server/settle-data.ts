import { homedir } from "node:os";
import { claimData, dataOrigin, stateDirectoryOf } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { trustOf } from "../agent/workspace-trust.ts";

/** What of a project's own code a command wants to be run: all of it, since a person asked for it; or only what people have trusted. Absent: as it was asked for here before. */
export type WantedCode = "all" | "trusted";

export interface DataUse {
  readonly root: string;
  readonly dataDirectory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly code?: WantedCode;
}

/**
 * Settles, before anything in the data directory is used, that it is the user's own, and whether a person has asked here for the project's code to be run. Errors:
 * permission_denied, DATA_DIRECTORY_FOREIGN, where the data came with the project and nobody has trusted that.
 */
export async function settleData({ root, dataDirectory, environment, code }: DataUse): Promise<{ readonly runsCode: boolean }> {
  const stateDirectory = stateDirectoryOf(environment, homedir());
  const origin = await dataOrigin(stateDirectory, dataDirectory);
  const hasAsked = origin.kind === "own" && origin.runsCode;
  if (origin.kind === "foreign" && code !== "all") await mustBeTrusted(root, dataDirectory, environment);
  const runsCode = code === "all" || hasAsked;
  if (origin.kind !== "own" || runsCode !== hasAsked) await claimData(stateDirectory, dataDirectory, { runsCode }).catch(unlessReadOnly);
  return { runsCode };
}

/** Refuses data that this user's Forge has not made, and that the user has not said to trust. */
export async function refuseForeignData({ root, dataDirectory, environment }: Omit<DataUse, "code">): Promise<void> {
  const { kind } = await dataOrigin(stateDirectoryOf(environment, homedir()), dataDirectory);
  if (kind === "foreign") await mustBeTrusted(root, dataDirectory, environment);
}

async function mustBeTrusted(root: string, dataDirectory: string, environment: NodeJS.ProcessEnv): Promise<void> {
  // A workspace that brings nothing to run is trusted without anybody having said so, which is not enough for a database.
  const { isExplicit } = await (await trustOf(environment)).readTrust(root);
  if (isExplicit) return;
  const advice = "if you have moved or copied it here yourself, say so with forge trust, or serve it with forge up; else remove it";
  throw new ForgeError(ErrorCode.PERMISSION_DENIED, `${dataDirectory} was not made here by your Forge, and using it would run what it says: ${advice}`, {
    reason: "DATA_DIRECTORY_FOREIGN",
    origin: "client",
    metadata: { file: dataDirectory },
  });
}

/** Where nothing can be remembered, the next command asks again. */
function unlessReadOnly(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "EROFS" && code !== "EACCES" && code !== "EPERM" && code !== "ENOENT" && code !== "ENOTDIR") throw error;
}
