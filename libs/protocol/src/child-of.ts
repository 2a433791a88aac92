import { StreamKind } from "./common.ts";
import type { Event } from "./event.ts";

/** The stream that begins to work for an event's own, by what the event says: a session or a run, which may come a moment later. Undefined: none does. */
export function childOf({ payload }: Pick<Event, "payload">): { readonly kind: StreamKind; readonly id: string } | undefined {
  if (payload.case === "toolStarted" && payload.value.childSessionId !== "") return { kind: StreamKind.SESSION, id: payload.value.childSessionId };
  if (payload.case !== "stepStarted") return undefined;
  const { sessionId, childRunId } = payload.value;
  if (sessionId !== "") return { kind: StreamKind.SESSION, id: sessionId };
  return childRunId === "" ? undefined : { kind: StreamKind.RUN, id: childRunId };
}
