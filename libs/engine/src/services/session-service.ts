import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { foldConversation, isHookKey, type SessionState, sessionView } from "@forge/domain";
import { type Api, type Call, checkText, ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import {
  AbandonTurnRequestSchema,
  AbandonTurnResponseSchema,
  CancelTurnRequestSchema,
  CancelTurnResponseSchema,
  CloseSessionRequestSchema,
  CloseSessionResponseSchema,
  CompactSessionRequestSchema,
  CompactSessionResponseSchema,
  ContinueTurnRequestSchema,
  ContinueTurnResponseSchema,
  CreateSessionRequestSchema,
  CreateSessionResponseSchema,
  ForkSessionRequestSchema,
  ForkSessionResponseSchema,
  GetSessionSnapshotResponseSchema,
  ListSessionsResponseSchema,
  PauseTurnRequestSchema,
  PauseTurnResponseSchema,
  ProvideInputRequestSchema,
  ProvideInputResponseSchema,
  type ReadConversationRequest,
  type ReadConversationResponse,
  ReadConversationResponseSchema,
  RewindSessionRequestSchema,
  RewindSessionResponseSchema,
  type SessionService,
  SessionStatusSchema,
  StartTurnRequestSchema,
  StartTurnResponseSchema,
  SteerTurnRequestSchema,
  SteerTurnResponseSchema,
  UndoChangesRequestSchema,
  UndoChangesResponseSchema,
  UpdateSessionPolicyRequestSchema,
  UpdateSessionPolicyResponseSchema,
} from "@forge/protocol/session";
import type { Store } from "../ports/index.ts";
import type { RecentEvents } from "../stream/recent-events.ts";
import type { StreamEngine } from "../stream/stream-engine.ts";
import { sessionSummary } from "../stream/summaries.ts";
import { parseTaskId } from "../tasks/task-id.ts";
import type { WorkerRegistry } from "../tasks/worker-registry.ts";
import { checkLabels, checkNoNul, checkPageSize, checkTime, checkUuid } from "./check.ts";
import { checkWorkerLease } from "./check-worker-lease.ts";
import { enumName } from "./enum-name.ts";
import type { CommandMessage, Executor } from "./execute.ts";
import { readFork } from "./fork-session.ts";
import { modelsOf } from "./models-of.ts";
import { pageToken, parsePageToken } from "./page-token.ts";
import { checkServed, checkUndone } from "./served.ts";
import { listChanges, readRewind, readUndo } from "./session-changes.ts";
import { conversationEvents } from "./session-history.ts";

export interface SessionServicePorts {
  readonly store: Store;
  /** Events of sessions. */
  readonly recent: RecentEvents;
  readonly engine: StreamEngine;
  readonly executor: Executor;
  readonly registry: WorkerRegistry;
}

export function createSessionService({ store, recent, engine, executor, registry }: SessionServicePorts): Api<typeof SessionService> {
  async function stateOf(namespace: string, sessionId: string) {
    const entry = await engine.read(namespace, checkUuid(sessionId, "session_id"), "session");
    if (entry === undefined) throw new ForgeError(ErrorCode.NOT_FOUND, `session ${sessionId} does not exist`, { relatedIds: [sessionId] });
    return { entry, state: entry.state as SessionState };
  }

  async function readConversation(request: ReadConversationRequest, call: Call): Promise<ReadConversationResponse> {
    // Who asks up to a seq that this replica has seen needs no newer head: an executor always does.
    const seen = request.throughSeq === 0n ? undefined : await engine.peek(call.namespace, checkUuid(request.sessionId, "session_id"), "session");
    const isSeen = seen?.kind === "session" && seen.seq >= Number(request.throughSeq);
    const { entry, state } = isSeen ? { entry: seen, state: seen.state as SessionState } : await stateOf(call.namespace, request.sessionId);
    const throughSeq = request.throughSeq === 0n ? entry.seq : Number(request.throughSeq);
    const { events, compactedSeq } = await conversationEvents(recent, call.namespace, state, { afterSeq: Number(request.afterSeq), throughSeq });
    const hook = request.lease !== undefined && isHookKey(parseTaskId(request.lease.taskId, "lease.task_id").key);
    const messages = foldConversation(events, request.turnId === "" ? { hook } : { turnId: request.turnId, hook });
    const started = request.turnId === "" ? undefined : events.findLast((event) => event.payload.case === "turnStarted" && event.turnId === request.turnId);
    return create(ReadConversationResponseSchema, {
      messages: [...messages],
      throughSeq: BigInt(Math.min(throughSeq, entry.seq)),
      system: state.agent?.system ?? "",
      tools: started?.payload.case === "turnStarted" ? started.payload.value.tools : [],
      compactedSeq: BigInt(compactedSeq),
    });
  }

  /** A command to a session that exists. */
  const toSession = <I extends DescMessage, O extends DescMessage>(
    call: Call,
    request: MessageShape<I> & CommandMessage & { readonly sessionId: string },
    schema: I,
    response: O,
  ): Promise<MessageShape<O>> => executor.run({ call, kind: "session", streamId: checkUuid(request.sessionId, "session_id"), schema, request, response });

  /** A command to one of its turns. */
  const toTurn = <I extends DescMessage, O extends DescMessage>(
    call: Call,
    request: MessageShape<I> & CommandMessage & { readonly sessionId: string; readonly turnId: string },
    schema: I,
    response: O,
  ): Promise<MessageShape<O>> => {
    checkUuid(request.turnId, "turn_id");
    return toSession(call, request, schema, response);
  };

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
      if (request.parentCall !== undefined) throw ForgeError.validation("parent_call", "parent_call is set by sub-agents' callers only: leave it out");
      const models = modelsOf(request.agent).map((model) => `model:${model}`);
      return executor.run({
        call,
        kind: "session",
        schema: CreateSessionRequestSchema,
        request,
        response: CreateSessionResponseSchema,
        admit: () => checkServed(registry, call.namespace, request.queue, models),
      });
    },
    async forkSession(request, call) {
      checkText(request);
      checkLabels(request.labels);
      for (const [key, value] of Object.entries(request.labels)) {
        checkNoNul(key, "labels", 128);
        checkNoNul(value, "labels", 128);
      }
      checkNoNul(request.title, "title", 256);
      checkNoNul(request.model, "model", 256);
      return executor.run({
        call,
        kind: "session",
        schema: ForkSessionRequestSchema,
        request,
        response: ForkSessionResponseSchema,
        prepare: async () => {
          const { entry, state } = await stateOf(call.namespace, request.sessionId);
          if (request.model !== "") await checkServed(registry, call.namespace, state.queue, [`model:${request.model}`]);
          return readFork(store, call.namespace, { state, seq: entry.seq }, request);
        },
      });
    },
    async updateSessionPolicy(request, call) {
      return toSession(call, request, UpdateSessionPolicyRequestSchema, UpdateSessionPolicyResponseSchema);
    },
    async compactSession(request, call) {
      return executor.run({
        call,
        kind: "session",
        streamId: checkUuid(request.sessionId, "session_id"),
        schema: CompactSessionRequestSchema,
        request,
        response: CompactSessionResponseSchema,
        // A summary that nobody would write is not waited for.
        admit: async () => {
          if (request.summary !== "") return;
          const { state } = await stateOf(call.namespace, request.sessionId);
          await checkServed(registry, call.namespace, state.queue, [`model:${state.agent?.model ?? ""}`]);
        },
      });
    },
    async undoChanges(request, call) {
      return executor.run({
        call,
        kind: "session",
        streamId: checkUuid(request.sessionId, "session_id"),
        schema: UndoChangesRequestSchema,
        request,
        response: UndoChangesResponseSchema,
        prepare: async () => {
          const { entry, state } = await stateOf(call.namespace, request.sessionId);
          const command = await readUndo(store, call.namespace, { state, seq: entry.seq }, request);
          if (command.changeIds.length > 0) await checkUndone(registry, call.namespace, state.queue);
          return command;
        },
      });
    },
    async rewindSession(request, call) {
      return executor.run({
        call,
        kind: "session",
        streamId: checkUuid(request.sessionId, "session_id"),
        schema: RewindSessionRequestSchema,
        request,
        response: RewindSessionResponseSchema,
        prepare: async () => {
          const { entry, state } = await stateOf(call.namespace, request.sessionId);
          const command = await readRewind(store, call.namespace, { state, seq: entry.seq }, request);
          if (command.changeIds.length > 0) await checkUndone(registry, call.namespace, state.queue);
          return command;
        },
      });
    },
    async listChanges(request, call) {
      await checkWorkerLease(store, call, request.lease, { kind: "conversation", sessionId: checkUuid(request.sessionId, "session_id") });
      const { entry, state } = await stateOf(call.namespace, request.sessionId);
      return listChanges(store, call.namespace, { state, seq: entry.seq }, request);
    },
    async closeSession(request, call) {
      return toSession(call, request, CloseSessionRequestSchema, CloseSessionResponseSchema);
    },
    async startTurn(request, call) {
      return toSession(call, request, StartTurnRequestSchema, StartTurnResponseSchema);
    },
    async steerTurn(request, call) {
      return toTurn(call, request, SteerTurnRequestSchema, SteerTurnResponseSchema);
    },
    async pauseTurn(request, call) {
      return toTurn(call, request, PauseTurnRequestSchema, PauseTurnResponseSchema);
    },
    async continueTurn(request, call) {
      return toTurn(call, request, ContinueTurnRequestSchema, ContinueTurnResponseSchema);
    },
    async provideInput(request, call) {
      checkUuid(request.inputId, "input_id");
      return toTurn(call, request, ProvideInputRequestSchema, ProvideInputResponseSchema);
    },
    async cancelTurn(request, call) {
      return toTurn(call, request, CancelTurnRequestSchema, CancelTurnResponseSchema);
    },
    async abandonTurn(request, call) {
      return toTurn(call, request, AbandonTurnRequestSchema, AbandonTurnResponseSchema);
    },
    async getSessionSnapshot(request, call) {
      const { entry, state } = await stateOf(call.namespace, request.sessionId);
      return create(GetSessionSnapshotResponseSchema, { session: sessionView(state, entry.seq) });
    },
    async listSessions(request, call) {
      const limit = checkPageSize(request.pageSize);
      const rows = await store.list(call.namespace, {
        kind: "session",
        status: enumName(SessionStatusSchema, request.status, "status"),
        labels: request.labels,
        createdFromMs: checkTime(request.createdFrom, "created_from"),
        createdBeforeMs: checkTime(request.createdBefore, "created_before"),
        limit,
        before: parsePageToken(request.pageToken),
      });
      const last = rows.at(-1);
      return create(ListSessionsResponseSchema, {
        sessions: rows.map(sessionSummary),
        nextPageToken: rows.length === limit && last !== undefined ? pageToken(last) : "",
      });
    },
    async readConversation(request, call) {
      const access = { kind: "conversation", sessionId: checkUuid(request.sessionId, "session_id"), throughSeq: Number(request.throughSeq) } as const;
      // Both ask the store; the second answer is given only after the first.
      const reading = readConversation(request, call);
      reading.catch(() => undefined);
      await checkWorkerLease(store, call, request.lease, access);
      return reading;
    },
  };
}
