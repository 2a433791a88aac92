import type { ForgeClient } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** A server that is there answers at once; one that hangs is as good as gone. */
const ANSWER_MS_MAX = 5_000;

/** Why a server does not answer; undefined where it does. Errors: unauthenticated, permission_denied: it does, and not to this credential or namespace. */
export async function askServer(client: ForgeClient): Promise<ForgeError | undefined> {
  try {
    await client.workflow.listRuns({ pageSize: 1 }, { timeoutMs: ANSWER_MS_MAX });
    return undefined;
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    // One that answers with an error of its own is there, whatever is wrong with it. What may be called depends on the credential's role; a namespace on the credential.
    if (error.detail.origin === "client") return error;
    if (error.code === ErrorCode.UNAUTHENTICATED || (error.code === ErrorCode.PERMISSION_DENIED && error.reason !== "ROLE_REQUIRED")) throw error;
    return undefined;
  }
}
