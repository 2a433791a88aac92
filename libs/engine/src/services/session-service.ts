import { create, fromBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { foldConversation, type SessionState, sessionView } from "@forge/domain";
import { type Api, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import {
  AbandonTurnRequestSchema,
  AbandonTurnResponseSchema,
  CancelTurnRequestSchema,
  CancelTurnResponseSchema,
  CloseSessionRequestSchema,
  CloseSessionResponseSchema,
  CreateSessionRequestSchema,
  CreateSessionResponseSchema,
  GetSessionSnapshotResponseSchema,
  ListSessionsResponseSchema,
  ReadConversationResponseSchema,
  type SessionService,
  type SessionStatus,
  SessionStatusSchema,
  SessionSummarySchema,
  StartTurnRequestSchema,
  StartTurnResponseSchema,
  type TurnStatus,
  TurnStatusSchema,
} from "@forge/protocol/session";
import type { Store, StoredEvent } from "../ports/index.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import type { WorkerRegistry } from "../tasks/worker-registry.ts";
import { checkLabels, checkNoNul, checkPageSize, checkUuid } from "./check.ts";
import { enumName, enumValue } from "./enum-name.ts";
import type { Executor } from "./execute.ts";
import { pageToken, parsePageToken } from "./page-token.ts";
import { checkServed } from "./served.ts";

export interface SessionServicePorts {
  readonly store: Store;
  readonly engine: StreamEngine;
  readonly executor: Executor;
  readonly registry: WorkerRegistry;
}

/** A conversation larger than this is not read at once; the next answer begins after what this one covers. */
const CONVERSATION_EVENTS_MAX = 50_000;
const PAGE = 5_000;

export function createSessionService({ store, engine, executor, registry }: SessionServicePorts): Api<typeof SessionService> {
  async function stateOf(namespace: string, sessionId: string) {
    const entry = await engine.read(namespace, checkUuid(sessionId, "session_id"), "session");
    if (entry === undefined) throw new ForgeError(ErrorCode.NOT_FOUND, `session ${sessionId} does not exist`, { relatedIds: [sessionId] });
    return { entry, state: entry.state as SessionState };
  }

  async function eventsOf(namespace: string, sessionId: string, afterSeq: number, throughSeq: number): Promise<readonly StoredEvent[]> {
    const events: StoredEvent[] = [];
    let from = afterSeq;
    while (events.length < CONVERSATION_EVENTS_MAX) {
      const page = await store.readEvents(namespace, sessionId, { afterSeq: from, throughSeq, limit: PAGE, deltas: false });
      events.push(...page.events);
      if (page.events.length < PAGE) return events;
      from = (page.events.at(-1) as StoredEvent).seq;
    }
    throw new ForgeError(
      ErrorCode.RESOURCE_EXHAUSTED,
      `the conversation of session ${sessionId} has more than ${CONVERSATION_EVENTS_MAX} events in this range: read a smaller one`,
      { retryable: false },
    );
  }

  return {
    async createSession(request, call) {
      checkLabels(request.labels);
      for (const [key, value] of Object.entries(request.labels)) {
        checkNoNul(key, "labels", 128);
        checkNoNul(value, "labels", 128);
      }
      checkNoNul(request.title, "title", 256);
      checkNoNul(request.queue, "queue", 128);
      checkNoNul(request.agent?.model ?? "", "agent.model", 256);
      if (request.parent !== undefined) throw ForgeError.validation("parent", "parent is set by runs only: leave it out");
      const models = request.agent === undefined || request.agent.model === "" ? [] : [`model:${request.agent.model}`];
      return executor.run({
        call,
        kind: "session",
        schema: CreateSessionRequestSchema,
        request,
        response: CreateSessionResponseSchema,
        admit: () => checkServed(registry, call.namespace, request.queue, models),
      });
    },
    async startTurn(request, call) {
      return executor.run({
        call,
        kind: "session",
        streamId: checkUuid(request.sessionId, "session_id"),
        schema: StartTurnRequestSchema,
        request,
        response: StartTurnResponseSchema,
      });
    },
    async cancelTurn(request, call) {
      checkUuid(request.turnId, "turn_id");
      return executor.run({
        call,
        kind: "session",
        streamId: checkUuid(request.sessionId, "session_id"),
        schema: CancelTurnRequestSchema,
        request,
        response: CancelTurnResponseSchema,
      });
    },
    async abandonTurn(request, call) {
      checkUuid(request.turnId, "turn_id");
      return executor.run({
        call,
        kind: "session",
        streamId: checkUuid(request.sessionId, "session_id"),
        schema: AbandonTurnRequestSchema,
        request,
        response: AbandonTurnResponseSchema,
      });
    },
    async closeSession(request, call) {
      return executor.run({
        call,
        kind: "session",
        streamId: checkUuid(request.sessionId, "session_id"),
        schema: CloseSessionRequestSchema,
        request,
        response: CloseSessionResponseSchema,
      });
    },
    async getSessionSnapshot(request, call) {
      const { entry, state } = await stateOf(call.namespace, request.sessionId);
      return create(GetSessionSnapshotResponseSchema, { session: sessionView(state, entry.seq) });
    },
    async listSessions(request, call) {
      const limit = checkPageSize(request.pageSize);
      const rows = await store.list(call.namespace, {
        kind: "session",
        status: enumName(SessionStatusSchema, request.status),
        labels: request.labels,
        limit,
        before: parsePageToken(request.pageToken),
      });
      const last = rows.at(-1);
      return create(ListSessionsResponseSchema, {
        sessions: rows.map((row) =>
          create(SessionSummarySchema, {
            sessionId: row.streamId,
            status: enumValue(SessionStatusSchema, row.status) as SessionStatus,
            turnStatus: enumValue(TurnStatusSchema, row.detailStatus) as TurnStatus,
            title: row.title,
            model: row.subject,
            labels: row.labels,
            createdAt: timestampFromMs(row.createdAtMs),
            updatedAt: timestampFromMs(row.updatedAtMs),
          }),
        ),
        nextPageToken: rows.length === limit && last !== undefined ? pageToken(last) : "",
      });
    },
    async readConversation(request, call) {
      // Who asks up to a seq that this replica has seen needs no newer head: an executor always does.
      const seen = request.throughSeq === 0n ? undefined : await engine.peek(call.namespace, checkUuid(request.sessionId, "session_id"), "session");
      const isSeen = seen?.kind === "session" && seen.seq >= Number(request.throughSeq);
      const { entry, state } = isSeen ? { entry: seen, state: seen.state as SessionState } : await stateOf(call.namespace, request.sessionId);
      const throughSeq = request.throughSeq === 0n ? entry.seq : Number(request.throughSeq);
      const stored = await eventsOf(call.namespace, request.sessionId, Number(request.afterSeq), throughSeq);
      const events = stored.map((event) => fromBinary(EventSchema, event.bytes));
      const messages = foldConversation(events, request.turnId === "" ? {} : { turnId: request.turnId });
      const started = request.turnId === "" ? undefined : events.findLast((event) => event.payload.case === "turnStarted" && event.turnId === request.turnId);
      return create(ReadConversationResponseSchema, {
        messages: [...messages],
        throughSeq: BigInt(Math.min(throughSeq, entry.seq)),
        system: state.agent?.system ?? "",
        tools: started?.payload.case === "turnStarted" ? started.payload.value.tools : [],
      });
    },
  };
}
