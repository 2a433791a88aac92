import { commandHeader } from "@forge/client";
import { ApprovalService, type Event, EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { expect } from "vitest";
import { PATIENCE_MS, sessionStream, startTurn } from "../../../harness/work.ts";
import type { SuiteClient } from "../client.ts";
import type { Scenario, World } from "../scenario.ts";
import { accepted } from "../steps/outcomes.ts";
import { callsTool, type OwnExecutor, ownTool, SCRIPTED_MODEL, saysOf, startOwnExecutor } from "../steps/own-executor.ts";
import { eventsAfter, isEndOf } from "../steps/streams.ts";
import { answerTo } from "../steps/waiting-commands.ts";

const { subscribeEvents } = EventService.method;
const { listPendingApprovals, resolveApproval } = ApprovalService.method;
const { cancelTurn, getSessionSnapshot } = SessionService.method;

/** From the root's caller to the one that calls the tool. */
const AGENTS = ["first", "second", "third"];

/** A session whose agent calls an agent, which calls an agent, which calls an agent, which calls a tool that is asked about. */
async function nested(world: World, { provider }: OwnExecutor): Promise<{ readonly sessionId: string; readonly turnId: string }> {
  const agents = AGENTS.toReversed().reduce<readonly object[]>(
    (subAgents, name) => [{ name, agent: { model: SCRIPTED_MODEL, tools: ["test.own"], subAgents } }],
    [],
  );
  provider.enqueue(...AGENTS.map((name) => callsTool(`agent.${name}`, { task: `You are the ${name}.` })), callsTool("test.own", {}));
  const { sessionId } = await world.reference.session.createSession({
    header: commandHeader(),
    agent: { model: SCRIPTED_MODEL, tools: ["test.own"], subAgents: [...agents] },
    queue: world.queue,
    policy: { defaultDecision: Decision.ASK, rules: [{ tool: "agent.*", decision: Decision.ALLOW }] },
  });
  return { sessionId, turnId: await startTurn(world.reference, sessionId, "go") };
}

/** Everything that comes to a subscriber of the root, over lost connections, in order; `next` is what comes up to an event that satisfies. */
function followRoot(client: SuiteClient, sessionId: string) {
  const request = { streams: [{ stream: sessionStream(sessionId) }], followChildren: true };
  const stream = client.open(subscribeEvents, request, { resume: true, timeoutMs: PATIENCE_MS });
  const seen: Event[] = [];
  return {
    seen,
    cancel: () => stream.cancel(),
    until: async (isLast: (event: Event) => boolean): Promise<Event> => {
      for (;;) {
        const read = await stream.next();
        if (read.message === undefined)
          throw new Error(`the subscription ended (${read.error?.message ?? "in peace"}); there were: ${seen.map(({ kind }) => kind).join(", ")}`);
        const { kind } = read.message;
        if (kind.case !== "event") continue;
        seen.push(kind.value);
        if (isLast(kind.value)) return kind.value;
      }
    },
  };
}

/** Each stream's events came whole and in order. */
async function expectWhole(client: SuiteClient, seen: readonly Event[]): Promise<void> {
  const ids = [...new Set(seen.map(({ stream }) => stream?.id ?? ""))];
  expect(ids).toHaveLength(1 + AGENTS.length);
  for (const id of ids) {
    const seqs = seen.filter(({ stream, kind }) => stream?.id === id && !kind.endsWith(".output_delta")).map(({ seq }) => seq);
    const durable = (await eventsAfter(client, id)).filter(({ kind }) => !kind.endsWith(".output_delta")).map(({ seq }) => seq);
    expect(seqs).toStrictEqual(durable.slice(0, seqs.length));
  }
}

async function answeredThreeDeep(world: World): Promise<void> {
  const executor = await startOwnExecutor(world, { tools: [ownTool("test.own", async () => "done")] });
  const client = await world.open();
  const { sessionId, turnId } = await nested(world, executor);
  const root = followRoot(client, sessionId);
  const required = await root.until(({ kind }) => kind === "tool.approval_required");
  const deepest = required.stream?.id ?? "";
  expect(deepest).not.toBe(sessionId);
  expect((await accepted(client.call(getSessionSnapshot, { sessionId: deepest }))).session?.parentCall).toMatchObject({
    rootSessionId: sessionId,
    depth: AGENTS.length,
  });
  const approvalId = required.payload.case === "toolApprovalRequired" ? required.payload.value.approvalId : "";
  executor.provider.enqueue(...["I have done it.", "It has.", "They have.", "All is done."].map(saysOf));
  await accepted(client.call(resolveApproval, answerTo({ sessionId: deepest, id: approvalId }, Decision.ALLOW)));
  const end = await root.until(isEndOf(turnId));
  root.cancel();
  expect(end.payload.value).toMatchObject({ textPreview: "All is done." });
  expect(root.seen.filter(({ kind }) => kind === "turn.completed")).toHaveLength(1 + AGENTS.length);
  await expectWhole(client, root.seen);
}

async function cancelledThreeDeep(world: World): Promise<void> {
  const executor = await startOwnExecutor(world, {
    tools: [
      ownTool("test.own", async () => {
        throw new Error("nobody allowed it");
      }),
    ],
  });
  const client = await world.open();
  const { sessionId, turnId } = await nested(world, executor);
  const root = followRoot(client, sessionId);
  const required = await root.until(({ kind }) => kind === "tool.approval_required");
  const stream = sessionStream(required.stream?.id ?? "");
  expect((await accepted(client.call(listPendingApprovals, { stream }))).approvals).toHaveLength(1);
  await accepted(client.call(cancelTurn, { header: commandHeader(), sessionId, turnId }));
  const end = await root.until(isEndOf(turnId));
  root.cancel();
  expect(end.kind).toBe("turn.cancelled");
  // The root ends last, so that all below has come by now.
  expect(root.seen.filter(({ kind }) => kind === "turn.cancelled")).toHaveLength(1 + AGENTS.length);
  expect(root.seen.some(({ kind, toolCallId }) => kind === "tool.started" && toolCallId === required.toolCallId)).toBe(false);
  expect((await accepted(client.call(listPendingApprovals, { stream }))).approvals).toStrictEqual([]);
  for (const id of new Set(root.seen.map((event) => event.stream?.id ?? ""))) {
    expect((await accepted(client.call(getSessionSnapshot, { sessionId: id }))).session?.turn?.openCalls).toStrictEqual([]);
  }
  await expectWhole(client, root.seen);
}

export const SCENARIOS: readonly Scenario[] = [
  {
    group: "Sub-agents",
    name: "an approval inside a sub-agent three deep reaches the root's subscriber, and its answer lets all of them end",
    methods: [subscribeEvents, resolveApproval, getSessionSnapshot],
    run: answeredThreeDeep,
  },
  {
    group: "Sub-agents",
    name: "cancelling the root settles an approval three deep, and nothing is left running",
    methods: [subscribeEvents, listPendingApprovals, cancelTurn, getSessionSnapshot],
    run: cancelledThreeDeep,
  },
];
