import { ApprovalService, EventService } from "@forge/protocol/event";
import { Decision, DecisionSchema } from "@forge/protocol/tool";
import { expect } from "vitest";
import { createSession, eventsUntil, sessionStream, startTurn, turnEnded } from "../../../harness/work.ts";
import type { Scenario, World } from "../scenario.ts";
import { accepted, refusalIn } from "../steps/outcomes.ts";
import { callsOf, ownTool, SCRIPTED_MODEL, saysOf, startOwnExecutor } from "../steps/own-executor.ts";
import { waitingForApproval } from "../steps/sessions.ts";
import { expectCompleted, followUntil, isEndOf } from "../steps/streams.ts";
import { answerTo } from "../steps/waiting-commands.ts";

const { listPendingApprovals, resolveApproval } = ApprovalService.method;
const { subscribeEvents } = EventService.method;

async function firstAnswerWins(world: World): Promise<void> {
  const waiting = await waitingForApproval(world);
  const clients = [await world.open(), await world.open()];
  const decisions = [Decision.ALLOW, Decision.DENY];
  const outcomes = await Promise.all(clients.map((client, index) => client.call(resolveApproval, answerTo(waiting, decisions[index] as Decision))));
  const winner = outcomes.findIndex(({ error }) => error === undefined);
  expect(outcomes.filter(({ error }) => error === undefined)).toHaveLength(1);
  const won = decisions[winner] as Decision;
  const name = DecisionSchema.value[won]?.name;
  expect(outcomes[1 - winner]?.error).toMatchObject({ reason: "APPROVAL_RESOLVED", detail: { retryable: false, metadata: { decision: name } } });
  // Both see how it was resolved, once.
  for (const client of clients) {
    const events = await followUntil(client, waiting.sessionId, isEndOf(waiting.turnId));
    const resolved = events.flatMap(({ payload }) => (payload.case === "approvalResolved" ? [payload.value] : []));
    expect(resolved).toHaveLength(1);
    expect(resolved[0]).toMatchObject({ approvalId: waiting.id, decision: { decision: won } });
    expect(resolved[0]?.decision?.decidedBy).toBe(outcomes[1 - winner]?.error?.detail.metadata["decided_by"]);
    expect(events.filter(({ kind }) => kind === "tool.completed" || kind === "tool.denied").map(({ kind }) => kind)).toStrictEqual([
      won === Decision.ALLOW ? "tool.completed" : "tool.denied",
    ]);
  }
}

async function oneOfTwo(world: World): Promise<void> {
  const { provider } = await startOwnExecutor(world, { tools: [ownTool("test.own", async () => "done")] });
  provider.enqueue(callsOf("test.own", 2), saysOf("Both are done."));
  const agent = { model: SCRIPTED_MODEL, tools: ["test.own"] };
  const { sessionId } = await world.reference.session.createSession({
    header: { version: { major: 1 }, commandId: world.queue },
    agent,
    queue: world.queue,
    policy: { defaultDecision: Decision.ASK },
  });
  const turnId = await startTurn(world.reference, sessionId, "go");
  let required = 0;
  await eventsUntil(world.reference, sessionStream(sessionId), ({ kind }) => kind === "tool.approval_required" && ++required === 2);
  const [first, second] = [await world.open(), await world.open()];
  const stream = sessionStream(sessionId);
  const both = (await accepted(first.call(listPendingApprovals, { stream }))).approvals;
  expect(both.map(({ tool }) => tool)).toStrictEqual(["test.own", "test.own"]);
  const [answered, open] = both;
  await accepted(first.call(resolveApproval, answerTo({ sessionId, id: answered?.approvalId ?? "" }, Decision.ALLOW)));
  const left = (await accepted(second.call(listPendingApprovals, { stream }))).approvals;
  expect(left.map(({ approvalId }) => approvalId)).toStrictEqual([open?.approvalId]);
  expect(left[0]).toMatchObject({ stream, turnId, toolCallId: open?.toolCallId, argumentsPreview: '{"number":2}' });
  await accepted(second.call(resolveApproval, answerTo({ sessionId, id: open?.approvalId ?? "" }, Decision.ALLOW)));
  expect((await accepted(first.call(listPendingApprovals, { stream }))).approvals).toStrictEqual([]);
  expectCompleted(await turnEnded(world.reference, sessionId, turnId));
}

async function survivesRestart(world: World): Promise<void> {
  const waiting = await waitingForApproval(world);
  const stream = sessionStream(waiting.sessionId);
  const before = (await accepted((await world.open()).call(listPendingApprovals, { stream }))).approvals;
  expect(before.map(({ approvalId }) => approvalId)).toStrictEqual([waiting.id]);
  await world.restart();
  const client = await world.open();
  expect((await accepted(client.call(listPendingApprovals, { stream }, { retry: true }))).approvals).toStrictEqual(before);
  await accepted(client.call(resolveApproval, answerTo(waiting, Decision.ALLOW), { retry: true }));
  const events = await followUntil(client, waiting.sessionId, isEndOf(waiting.turnId));
  expectCompleted(events);
  expect(await world.effects(before[0]?.toolCallId ?? "")).toBe(1);
  expect(await refusalIn(client.call(resolveApproval, answerTo(waiting, Decision.DENY)))).toBe("CONFLICT APPROVAL_RESOLVED");
}

async function deniedNeverRuns(world: World): Promise<void> {
  const waiting = await waitingForApproval(world);
  const client = await world.open();
  const comment = "Not now: \u2028 the 🐢 sleeps.";
  await accepted(client.call(resolveApproval, { ...answerTo(waiting, Decision.DENY), comment }));
  const events = await followUntil(client, waiting.sessionId, isEndOf(waiting.turnId));
  const [denied] = events.filter(({ kind }) => kind === "tool.denied");
  expect(denied).toBeDefined();
  expect(events.some(({ kind }) => kind === "tool.started")).toBe(false);
  expect(await world.effects(denied?.toolCallId ?? "")).toBe(0);
  const resolved = events.find(({ kind }) => kind === "approval.resolved")?.payload;
  expect(resolved?.value).toMatchObject({ comment });
}

async function unknownApproval(world: World): Promise<void> {
  const sessionId = await createSession(world.reference);
  const client = await world.open();
  const id = "00000000-0000-7000-8000-000000000000";
  expect(await refusalIn(client.call(resolveApproval, answerTo({ sessionId, id }, Decision.ALLOW)))).toBe("NOT_FOUND APPROVAL_NOT_FOUND");
  expect(await refusalIn(client.call(resolveApproval, answerTo({ sessionId: id, id }, Decision.ALLOW)))).toBe("NOT_FOUND");
  expect(await refusalIn(client.call(resolveApproval, answerTo({ sessionId, id }, Decision.ASK)))).toBe("VALIDATION");
}

export const SCENARIOS: readonly Scenario[] = [
  {
    group: "Approvals",
    name: "of two clients that answer one approval one wins, and the other learns how",
    methods: [resolveApproval, subscribeEvents],
    run: firstAnswerWins,
  },
  {
    group: "Approvals",
    name: "of two open approvals of which one is answered the second client sees the other",
    methods: [listPendingApprovals, resolveApproval],
    run: oneOfTwo,
  },
  {
    group: "Approvals",
    name: "an approval survives a restart of everything",
    methods: [listPendingApprovals, resolveApproval, subscribeEvents],
    run: survivesRestart,
  },
  {
    group: "Approvals",
    name: "a call that is denied never runs, and the comment reaches whoever follows",
    methods: [resolveApproval, subscribeEvents],
    run: deniedNeverRuns,
  },
  { group: "Approvals", name: "an answer to an approval that there is not is refused", methods: [resolveApproval], run: unknownApproval },
];
