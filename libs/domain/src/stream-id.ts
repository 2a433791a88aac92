import type { Context } from "./decider.ts";

/**
 * The id of the stream that a create command makes: a UUID (version 8) from namespace, kind and command id, so that a create's retries meet on one
 * stream, and who sends the create knows the id before it is answered.
 */
export function createdStreamId(context: Pick<Context, "deriveId">, kind: "session" | "run", commandId: string): string {
  return context.deriveId(kind, commandId);
}
