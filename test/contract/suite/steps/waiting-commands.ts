import { commandHeader } from "@forge/client";
import type { Decision } from "@forge/protocol/tool";
import { sessionStream } from "../../../harness/work.ts";
import type { Waiting } from "./sessions.ts";

/** A new command about a turn. */
export function commandOn({ sessionId, turnId }: Omit<Waiting, "id">) {
  return { header: commandHeader(), sessionId, turnId };
}

/** A new answer to an approval. */
export function answerTo({ sessionId, id }: Omit<Waiting, "turnId">, decision: Decision) {
  return { header: commandHeader(), stream: sessionStream(sessionId), approvalId: id, decision };
}
