import { commandHeader } from "@forge/client";
import { Decision } from "@forge/protocol/tool";
import { createSession, eventsUntil, type SessionOptions, say, sessionStream, startTurn, useTool } from "../../../harness/work.ts";
import type { World } from "../scenario.ts";
import { joinOwnQueue, OWN_MODEL } from "./own-worker.ts";

/** A turn that waits. */
export interface Waiting {
  readonly sessionId: string;
  readonly turnId: string;
  /** Of the approval or the question. */
  readonly id: string;
}

/** A session of a queue whose worker does nothing: its turns stay as they are. */
export async function quietSession(world: World): Promise<string> {
  await joinOwnQueue(world);
  return (await world.reference.session.createSession({ header: commandHeader(), agent: { model: OWN_MODEL }, queue: world.queue })).sessionId;
}

/** A turn whose model never answers. */
export async function quietTurn(world: World): Promise<Omit<Waiting, "id">> {
  const sessionId = await quietSession(world);
  const { turnId } = await world.reference.session.startTurn({ header: commandHeader(), sessionId, input: [say("Hello.")] });
  return { sessionId, turnId };
}

/** A session with something in its history, and no active turn. */
export async function spokenSession(world: World): Promise<string> {
  const turn = await quietTurn(world);
  await world.reference.session.abandonTurn({ header: commandHeader(), ...turn, reason: "enough was said" });
  return turn.sessionId;
}

/** A turn that waits for a person to allow a call. */
export async function waitingForApproval({ reference }: World): Promise<Waiting> {
  const sessionId = await createSession(reference, { policy: { defaultDecision: Decision.ASK } });
  const turnId = await startTurn(reference, sessionId, useTool("test.append", {}));
  const events = await eventsUntil(reference, sessionStream(sessionId), (event) => event.kind === "tool.approval_required");
  const last = events.at(-1)?.payload;
  if (last?.case !== "toolApprovalRequired") throw new Error("there is no approval");
  return { sessionId, turnId, id: last.value.approvalId };
}

/** A turn whose model has asked a person. */
export async function waitingForInput({ reference }: World, options: SessionOptions = {}): Promise<Waiting> {
  const sessionId = await createSession(reference, { agent: { model: "demo/chat", tools: ["tools.ask"] }, ...options });
  const turnId = await startTurn(reference, sessionId, 'use the tools.ask tool with {"question":"Which colour?"}');
  const events = await eventsUntil(reference, sessionStream(sessionId), (event) => event.kind === "turn.input_requested");
  const last = events.at(-1)?.payload;
  if (last?.case !== "turnInputRequested") throw new Error("there is no question");
  return { sessionId, turnId, id: last.value.inputId };
}
