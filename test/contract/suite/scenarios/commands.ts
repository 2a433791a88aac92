import { randomUUID } from "node:crypto";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { commandHeader } from "@forge/client";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { EventService } from "@forge/protocol/event";
import { SessionService, SessionStatus } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import { WorkflowService } from "@forge/protocol/workflow";
import { expect } from "vitest";
import { startProxy } from "../../../harness/proxy.ts";
import { runStream, say, sessionStream, until } from "../../../harness/work.ts";
import type { SuiteClient } from "../client.ts";
import type { Scenario, World } from "../scenario.ts";
import { accepted, refusalIn, refused } from "../steps/outcomes.ts";
import { joinOwnQueue, OWN_MODEL } from "../steps/own-worker.ts";
import { quietSession, quietTurn } from "../steps/sessions.ts";
import { COMMANDS, type Command, type PreparedCommand } from "./every-command.ts";

const { getCommandResult } = EventService.method;
const { abandonTurn, closeSession, createSession, getSessionSnapshot, listSessions, startTurn, updateSessionPolicy } = SessionService.method;
const { getRun, listRuns } = WorkflowService.method;

const TIMES = 20;

/** A command with its id, as often as it is wanted. */
class Sent {
  readonly commandId = randomUUID();
  readonly #world: World;
  readonly #command: Command;
  readonly #prepared: PreparedCommand;

  private constructor(world: World, command: Command, prepared: PreparedCommand) {
    this.#world = world;
    this.#command = command;
    this.#prepared = prepared;
  }

  static async prepare(world: World, command: Command): Promise<Sent> {
    return new Sent(world, command, await command.prepare(world));
  }

  /** Its answer, encoded. */
  async by(client: SuiteClient, options: { readonly retry?: boolean } = {}): Promise<Uint8Array> {
    const { method } = this.#command;
    return toBinary(method.output, await accepted(client.call(method, this.#with(this.commandId), options)));
  }

  /** What another request with the same id is refused with; undefined where there is no other. */
  async reuse(client: SuiteClient): Promise<string | undefined> {
    const { other } = this.#prepared;
    return other === undefined ? undefined : await refusalIn(client.call(this.#command.method, { ...other, header: commandHeader(this.commandId) }));
  }

  async expectIdRefused(client: SuiteClient, commandId: string): Promise<void> {
    const { code, detail } = await refused(client.call(this.#command.method, this.#with(commandId)));
    expect({ commandId, code, field: detail.metadata["field"] }).toEqual({ commandId, code: ErrorCode.VALIDATION, field: "header.command_id" });
  }

  /** Its one effect is on record, with the answer that the client got. */
  async expectOneEffect(answer: Uint8Array): Promise<void> {
    const { method, kind } = this.#command;
    const result = await this.#world.reference.event.getCommandResult(this.#named());
    expect({ answer: result.result, type: result.resultType }).toEqual({ answer, type: method.output.typeName });
    expect(result.stream).toBeDefined();
    const found: string[] = [];
    const streams = [{ stream: { kind: result.stream?.kind ?? 0, id: result.stream?.id ?? "" } }];
    for await (const { kind: told } of this.#world.reference.event.subscribeEvents({ streams, noFollow: true })) {
      if (told.case === "event" && told.value.kind === kind) found.push(told.value.commandId);
    }
    expect(found).toEqual([this.commandId]);
  }

  /** Waits until it had its effect, whoever was told. */
  async hadEffect(): Promise<void> {
    const { event } = this.#world.reference;
    await until(`${this.#command.method.name} has an effect`, () =>
      event.getCommandResult(this.#named()).then(
        () => true,
        () => false, // Not found until then.
      ),
    );
  }

  #with(commandId: string): Record<string, unknown> {
    return { ...this.#prepared.request, header: commandHeader(commandId) };
  }

  #named(): MessageInitShape<typeof getCommandResult.input> {
    return { stream: this.#prepared.stream, commandId: this.commandId, createKind: this.#command.creates };
  }
}

/** Sends it through a proxy that loses the answer, by a client that tries again. */
async function afterLostAnswer(world: World, sent: Sent): Promise<Uint8Array> {
  const proxy = await startProxy(world.urls[0] as string);
  world.defer(() => proxy.close());
  const client = await world.open({ url: proxy.url });
  // Not from the beginning: it is the answer that is to be lost, and not the greeting.
  proxy.loseAnswersTo(sent.commandId);
  const sending = sent.by(client, { retry: true });
  await Promise.race([sending, sent.hadEffect()]);
  // The server's answer may come a little later than its effect is seen.
  const { counts } = proxy;
  await until("the answer is lost", () => counts.connections === 0 || counts.lost > 0);
  proxy.cut();
  return await sending;
}

function oneEffect(command: Command): Scenario {
  const { method } = command;
  return {
    group: "A command sent again: twice, 20 times at once, after its answer was lost, after a restart",
    name: `${method.name} has one effect and one answer`,
    methods: [method],
    run: async (world) => {
      const client = await world.open();
      const [often, lost] = await Promise.all([Sent.prepare(world, command), Sent.prepare(world, command)]);
      for (const commandId of [" ", "x".repeat(129), "é"]) await often.expectIdRefused(client, commandId);
      const answers = await Promise.all(Array.from({ length: TIMES }, () => often.by(client)));
      answers.push(await often.by(client));
      const [answer] = answers as [Uint8Array];
      for (const each of answers) expect(each).toEqual(answer);
      expect(await often.reuse(client)).toBeOneOf([undefined, "CONFLICT COMMAND_ID_REUSED"]);
      const lostAnswer = await afterLostAnswer(world, lost);
      expect(await lost.by(client)).toEqual(lostAnswer);
      await lost.expectOneEffect(lostAnswer);
      await world.restart();
      expect(await often.by(client, { retry: true })).toEqual(answer);
      await often.expectOneEffect(answer);
    },
  };
}

/** How pages of so many go on to the end. */
async function pages<P extends { readonly nextPageToken: string }>(
  pageSize: number,
  read: (page: { pageSize: number; pageToken: string }) => Promise<P>,
): Promise<P[]> {
  const found: P[] = [];
  let pageToken = "";
  do {
    const page = await read({ pageSize, pageToken });
    found.push(page);
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && found.length < 100);
  return found;
}

export const SCENARIOS: readonly Scenario[] = [
  ...COMMANDS.map(oneEffect),
  {
    group: "Commands",
    name: "a command id that was used for another command of the stream is a conflict",
    methods: [closeSession, updateSessionPolicy],
    run: async (world) => {
      const client = await world.open();
      const sessionId = await quietSession(world);
      const header = commandHeader();
      await accepted(client.call(updateSessionPolicy, { header, sessionId, policy: { defaultDecision: Decision.DENY } }));
      expect(await refusalIn(client.call(closeSession, { header, sessionId }))).toBe("CONFLICT COMMAND_ID_REUSED");
      const { session } = await world.reference.session.getSessionSnapshot({ sessionId });
      expect(session?.status).toBe(SessionStatus.ACTIVE);
    },
  },
  {
    group: "Commands",
    name: "what became of a command is told by its id, with the answer that it had; of one that never came there is nothing",
    methods: [createSession, getCommandResult],
    run: async (world) => {
      const client = await world.open();
      await joinOwnQueue(world);
      const header = commandHeader();
      const answer = await accepted(client.call(createSession, { header, agent: { model: OWN_MODEL }, queue: world.queue }));
      const named = { commandId: header.commandId ?? "", createKind: StreamKind.SESSION };
      const told = await accepted(client.call(getCommandResult, named));
      expect(told).toMatchObject({ seq: answer.seq, stream: sessionStream(answer.sessionId), resultType: createSession.output.typeName });
      expect(told.result).toEqual(toBinary(createSession.output, answer));
      expect((await refused(client.call(getCommandResult, { ...named, commandId: randomUUID() }))).code).toBe(ErrorCode.NOT_FOUND);
    },
  },
  {
    group: "Commands",
    name: "of two commands that expect the same seq one wins, and the other learns the present one",
    methods: [updateSessionPolicy, getSessionSnapshot],
    run: async (world) => {
      const client = await world.open();
      const sessionId = await quietSession(world);
      const expectedSeq = (await accepted(client.call(getSessionSnapshot, { sessionId }))).session?.seq ?? 0n;
      const outcomes = await Promise.all(
        [Decision.DENY, Decision.ASK].map((defaultDecision) =>
          client.call(updateSessionPolicy, { header: commandHeader(randomUUID(), { expectedSeq }), sessionId, policy: { defaultDecision } }),
        ),
      );
      const won = outcomes.filter(({ error }) => error === undefined);
      const errors = outcomes.flatMap(({ error }) => (error === undefined ? [] : [error]));
      expect(won).toHaveLength(1);
      expect(errors.map(({ code, reason, detail }) => ({ code, reason, current: detail.metadata["current_seq"] }))).toEqual([
        { code: ErrorCode.CONFLICT, reason: "SEQ_MISMATCH", current: String(won[0]?.response?.seq) },
      ]);
    },
  },
  {
    group: "Commands",
    name: "a command that was refused leaves no record, and may be tried again with its id",
    methods: [startTurn, abandonTurn, getCommandResult],
    run: async (world) => {
      const client = await world.open();
      const turn = await quietTurn(world);
      const { sessionId } = turn;
      const header = commandHeader();
      const request = { header, sessionId, input: [say("And now?")] };
      expect(await refusalIn(client.call(startTurn, request))).toBe("CONFLICT TURN_ACTIVE");
      const named = { stream: sessionStream(sessionId), commandId: header.commandId ?? "" };
      expect((await refused(client.call(getCommandResult, named))).code).toBe(ErrorCode.NOT_FOUND);
      await accepted(client.call(abandonTurn, { header: commandHeader(), ...turn, reason: "It hangs." }));
      const { turnId } = await accepted(client.call(startTurn, request));
      expect(turnId).not.toBe(turn.turnId);
    },
  },
  {
    group: "Commands",
    name: "an enum value that the server does not know is an error",
    methods: [createSession, updateSessionPolicy, listSessions],
    run: async (world) => {
      const client = await world.open();
      const sessionId = await quietSession(world);
      const unknown = 99 as Decision;
      const refusals = [
        client.call(updateSessionPolicy, { header: commandHeader(), sessionId, policy: { defaultDecision: unknown } }),
        client.call(createSession, { header: commandHeader(), agent: { model: OWN_MODEL }, queue: world.queue, policy: { defaultDecision: unknown } }),
        client.call(listSessions, { status: 99 as SessionStatus }),
      ];
      for (const refusal of refusals) expect((await refused<unknown>(refusal)).code).toBe(ErrorCode.VALIDATION);
    },
  },
  {
    group: "Lists",
    name: "sessions come in pages, newest first, by label, status and time",
    methods: [createSession, closeSession, listSessions],
    run: async (world) => {
      const client = await world.open();
      await joinOwnQueue(world);
      const labels = { of: world.queue };
      const ids: string[] = [];
      for (let index = 0; index < 5; index++) {
        const request = { header: commandHeader(), agent: { model: OWN_MODEL }, queue: world.queue, labels: { ...labels, index: String(index) } };
        ids.unshift((await accepted(client.call(createSession, request))).sessionId);
      }
      const [newest] = ids as [string];
      const list = async (filter: MessageInitShape<typeof listSessions.input>) =>
        (await accepted(client.call(listSessions, { labels, ...filter }))).sessions.map(({ sessionId }) => sessionId);
      const read = await pages(2, (page) => accepted(client.call(listSessions, { labels, ...page })));
      expect(read.map(({ sessions }) => sessions.length)).toEqual([2, 2, 1]);
      expect(read.flatMap(({ sessions }) => sessions.map(({ sessionId }) => sessionId))).toEqual(ids);
      expect(await list({ labels: { ...labels, index: "3" } })).toEqual([ids[1]]);
      await accepted(client.call(closeSession, { header: commandHeader(), sessionId: newest }));
      expect(await list({ status: SessionStatus.CLOSED })).toEqual([newest]);
      expect(await list({ status: SessionStatus.ACTIVE })).toEqual(ids.slice(1));
      const createdAt = read[0]?.sessions[0]?.createdAt;
      expect(await list({ createdFrom: createdAt, createdBefore: createdAt })).toEqual([]);
      expect(new Set([...(await list({ createdFrom: createdAt })), ...(await list({ createdBefore: createdAt }))])).toEqual(new Set(ids));
      expect((await refused(client.call(listSessions, { pageToken: "nonsense" }))).code).toBe(ErrorCode.VALIDATION);
      expect((await refused(client.call(listSessions, { pageSize: 501 }))).code).toBe(ErrorCode.VALIDATION);
    },
  },
  {
    group: "Lists",
    name: "runs come in pages, newest first, by label, workflow and status",
    methods: [listRuns, getRun],
    run: async (world) => {
      const client = await world.open();
      const startRun = COMMANDS.find(({ method }) => method === WorkflowService.method.startRun) as Command;
      const { request } = await startRun.prepare(world);
      const labels = { of: world.queue };
      const ids: string[] = [];
      for (let index = 0; index < 3; index++) {
        const init = create(WorkflowService.method.startRun.input, { ...request, header: commandHeader(), labels });
        ids.unshift((await world.reference.workflow.startRun(init)).runId);
      }
      const read = await pages(2, (page) => accepted(client.call(listRuns, { labels, ...page })));
      expect(read.map(({ runs }) => runs.map(({ runId }) => runId))).toEqual([ids.slice(0, 2), ids.slice(2)]);
      expect((await accepted(client.call(listRuns, { labels, workflowId: "another" }))).runs).toEqual([]);
      const { run } = await accepted(client.call(getRun, { runId: ids[0] as string }));
      expect(run?.labels).toEqual(labels);
      expect((await refused(client.call(getRun, { runId: runStream(randomUUID()).id }))).code).toBe(ErrorCode.NOT_FOUND);
    },
  },
];
