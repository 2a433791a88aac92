import { create } from "@bufbuild/protobuf";
import { commandHeader } from "@forge/client";
import { TaskLeaseSchema } from "@forge/protocol/common";
import { FinishReason, ModelCompletedSchema } from "@forge/protocol/event";
import { Decision } from "@forge/protocol/tool";
import { type Settlement, SettlementSchema } from "@forge/protocol/worker";
import { eventsUntil, say, sessionStream } from "../../../harness/work.ts";
import type { World } from "../scenario.ts";
import { joinOwnQueue, OWN_MODEL, OWN_TOOL } from "./own-worker.ts";

/** A session with no active turn, one of whose tools has changed a file. The case's worker takes back changes of files, and does nothing by itself. */
export async function changedSession(world: World): Promise<string> {
  await joinOwnQueue(world);
  const { session } = world.reference;
  const agent = { model: OWN_MODEL, tools: [OWN_TOOL] };
  const policy = { defaultDecision: Decision.ALLOW };
  const { sessionId } = await session.createSession({ header: commandHeader(), agent, policy, queue: world.queue });
  const { turnId } = await session.startTurn({ header: commandHeader(), sessionId, input: [say("Change it.")] });
  const call = { kind: { case: "toolCall" as const, value: { tool: OWN_TOOL, argumentsJson: "{}" } } };
  const completed = create(ModelCompletedSchema, { parts: [call], finishReason: FinishReason.TOOL_CALLS });
  await perform(world, { case: "model", value: {} }, { case: "model", value: { completed } });
  const files = [{ path: "a.txt", afterSha256: "a".repeat(64) }];
  await perform(world, { case: "tool", value: {} }, { case: "tool", value: { changes: [{ files }] } });
  await eventsUntil(world.reference, sessionStream(sessionId), ({ kind }) => kind === "workspace.change_recorded");
  await session.abandonTurn({ header: commandHeader(), sessionId, turnId, reason: "enough was changed" });
  return sessionId;
}

type Start = { readonly case: "model" | "tool"; readonly value: object };

/** The case's worker does the one task that there is. */
async function perform(
  world: World,
  start: Start,
  outcome: { readonly case: NonNullable<Settlement["outcome"]["case"]>; readonly value: object },
): Promise<void> {
  const { port, workerSessionId } = await joinOwnQueue(world);
  const { tasks } = await port.leaseTasks({ workerSessionId, slots: 1, wait: { seconds: 10n } });
  const [task] = tasks;
  if (task === undefined) throw new Error(`the ${start.case} task was not leased`);
  const lease = create(TaskLeaseSchema, { taskId: task.taskId, epoch: task.epoch, leaseToken: task.leaseToken });
  const started = await port.startTasks({ workerSessionId, starts: [{ lease, kind: start as { case: "tool"; value: object } }] });
  const settled = await port.settleTasks({
    workerSessionId,
    settlements: [create(SettlementSchema, { lease, outcome: outcome as { case: "tool"; value: object } })],
  });
  for (const { error } of [...started.answers, ...settled.answers]) if (error !== undefined) throw new Error(error.message);
}
