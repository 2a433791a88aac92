import { create } from "@bufbuild/protobuf";
import { MessageAddedSchema, SessionCreatedSchema, SessionForkedSchema } from "@forge/protocol/event";
import { ForkSessionResponseSchema, MessageSchema, SessionStatus } from "@forge/protocol/session";
import type { Rejected } from "../decider.ts";
import type { ForkFrom } from "./fork-from.ts";
import { sessionExists } from "./rejections.ts";
import type { SessionRecorder, SessionResult } from "./session-command.ts";
import { validateLabels, validateTitle } from "./validate-session.ts";

/** Creates the session with another's conversation in it. It works for nobody's step, whoever the source worked for, and shares nothing with it from then on;
 * a sub-agent's works for the call that asked for it. */
export function forkSession(recorder: SessionRecorder, command: ForkFrom): SessionResult | Rejected {
  const sessionId = recorder.context.streamId;
  if (recorder.state.status !== SessionStatus.UNSPECIFIED) return sessionExists(sessionId);
  const { agent, policy, queue, title, labels, sourceSessionId, parentCall } = command;
  const wrong = validateTitle(title) ?? validateLabels(labels);
  if (wrong !== undefined) return wrong;
  const created = create(SessionCreatedSchema, { agent, policy, labels: { ...labels }, title, queue, parentCall });
  recorder.record({ payload: { case: "sessionCreated", value: created }, sensitive: true });
  for (const { role, parts } of command.messages) {
    const message = create(MessageSchema, { role, parts });
    recorder.record({ payload: { case: "messageAdded", value: create(MessageAddedSchema, { message }) }, sensitive: true });
  }
  const forked = create(SessionForkedSchema, { sourceSessionId, throughSeq: BigInt(command.throughSeq) });
  recorder.record({ payload: { case: "sessionForked", value: forked } });
  return create(ForkSessionResponseSchema, { sessionId });
}
