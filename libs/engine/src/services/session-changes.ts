import { create, fromBinary } from "@bufbuild/protobuf";
import type { RewindTo, SessionState, UndoThese } from "@forge/domain";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type Event, EventSchema, type WorkspaceChangeRecorded } from "@forge/protocol/event";
import {
  type Change,
  ChangeSchema,
  type ListChangesRequest,
  type ListChangesResponse,
  ListChangesResponseSchema,
  type RewindSessionRequest,
  type UndoChangesRequest,
} from "@forge/protocol/session";
import type { Store } from "../ports/index.ts";
import { checkPageSize, checkUuid } from "./check.ts";

const RECORDED = "workspace.change_recorded";
const UNDONE = "workspace.change_undone";
/** Events of one read; each may name a thousand files. */
const PAGE = 100;
const CHANGE_IDS_MAX = 1_000;
/** A page ends with the change that exceeds it, so that an answer stays within what every transport carries. */
const PAGE_BYTES = 1024 * 1024;

/** A session as it was read for a command. */
export interface ReadSession {
  readonly state: SessionState;
  readonly seq: number;
}

/** A change that stands, without its files. */
interface Standing {
  readonly changeId: string;
  readonly seq: number;
  readonly turnId: string;
}

/**
 * Which changes an UndoChanges means: those that are named, those of a turn, or those of the last turn that changed something. What is undone already is left
 * out, and what only tells of things that nobody can undo. Rejects with validation, or not_found, CHANGE_NOT_FOUND.
 */
export async function readUndo(store: Store, namespace: string, session: ReadSession, request: UndoChangesRequest): Promise<UndoThese> {
  const { changeIds, turnId } = request;
  if (changeIds.length > CHANGE_IDS_MAX) throw ForgeError.validation("change_ids", `change_ids has ${changeIds.length} entries: at most ${CHANGE_IDS_MAX}`);
  if (changeIds.length > 0 && turnId !== "")
    throw ForgeError.validation("turn_id", "turn_id chooses among all changes: leave it out where change_ids names some");
  if (turnId !== "") checkUuid(turnId, "turn_id");
  const { standing, known } = await readStanding(store, namespace, session);
  const wanted = new Set(changeIds);
  const missing = changeIds.find((id) => !known.has(id));
  if (missing !== undefined) {
    const message = `session ${session.state.sessionId} has no change ${missing}: list its changes with ListChanges`;
    throw new ForgeError(ErrorCode.NOT_FOUND, message, { reason: "CHANGE_NOT_FOUND", relatedIds: [session.state.sessionId, missing] });
  }
  const turn = turnId === "" ? standing.at(-1)?.turnId : turnId;
  const chosen = standing.filter((change) => (wanted.size > 0 ? wanted.has(change.changeId) : change.turnId === turn));
  return { $typeName: "session.undo_these", changeIds: newestFirst(chosen), readSeq: session.seq };
}

/** Where a RewindSession goes, and the changes that came after, unless the files are to be kept. */
export async function readRewind(store: Store, namespace: string, session: ReadSession, request: RewindSessionRequest): Promise<RewindTo> {
  const throughSeq = Number(request.throughSeq);
  const { standing } = request.keepFiles || session.state.changeCount === 0 ? { standing: [] } : await readStanding(store, namespace, session);
  const chosen = standing.filter(({ seq }) => seq > throughSeq);
  return { $typeName: "session.rewind_to", throughSeq, changeIds: newestFirst(chosen), readSeq: session.seq };
}

/** A page of changes, oldest first. Rejects with validation. */
export async function listChanges(store: Store, namespace: string, session: ReadSession, request: ListChangesRequest): Promise<ListChangesResponse> {
  const limit = checkPageSize(request.pageSize);
  if (request.changeIds.length > CHANGE_IDS_MAX) {
    throw ForgeError.validation("change_ids", `change_ids has ${request.changeIds.length} entries: at most ${CHANGE_IDS_MAX}`);
  }
  const wanted = new Set(request.changeIds);
  const undone = new Set<string>();
  const range = { sessionId: session.state.sessionId, throughSeq: session.seq };
  for await (const { event } of eventsOf(store, namespace, { ...range, afterSeq: 0, kinds: [UNDONE] })) noteUndone(undone, event);
  const afterSeq = Math.max(Number(request.afterSeq), parseToken(request.pageToken));
  const changes: Change[] = [];
  let bytes = 0;
  let isWhole = true;
  for await (const { event, size } of eventsOf(store, namespace, { ...range, afterSeq, kinds: [RECORDED] })) {
    if (event.payload.case !== "workspaceChangeRecorded") continue;
    const { value } = event.payload;
    if (wanted.size > 0 && !wanted.has(value.changeId)) continue;
    changes.push(changeOf(event, value, undone.has(value.changeId)));
    bytes += size;
    isWhole = changes.length < limit && bytes < PAGE_BYTES;
    if (!isWhole) break;
  }
  const last = changes.at(-1);
  return create(ListChangesResponseSchema, { changes, nextPageToken: isWhole || last === undefined ? "" : token(last.seq) });
}

function changeOf(event: Event, { changeId, files, observed, notUndoable, tool }: WorkspaceChangeRecorded, undone: boolean): Change {
  const { seq, turnId, toolCallId, occurredAt } = event;
  return create(ChangeSchema, { changeId, seq, turnId, toolCallId, tool, occurredAt, files, observed, undone, notUndoable });
}

async function readStanding(
  store: Store,
  namespace: string,
  { state, seq }: ReadSession,
): Promise<{ readonly standing: readonly Standing[]; readonly known: ReadonlySet<string> }> {
  const recorded: Standing[] = [];
  const known = new Set<string>();
  const undone = new Set<string>();
  const range = { sessionId: state.sessionId, afterSeq: 0, throughSeq: seq, kinds: [RECORDED, UNDONE] };
  for await (const { event } of eventsOf(store, namespace, range)) {
    noteUndone(undone, event);
    if (event.payload.case !== "workspaceChangeRecorded") continue;
    const { changeId, files } = event.payload.value;
    known.add(changeId);
    if (files.length > 0) recorded.push({ changeId, seq: Number(event.seq), turnId: event.turnId });
  }
  return { standing: recorded.filter(({ changeId }) => !undone.has(changeId)), known };
}

function noteUndone(undone: Set<string>, { payload }: Event): void {
  if (payload.case === "workspaceChangeUndone") for (const id of payload.value.changeIds) undone.add(id);
}

function newestFirst(changes: readonly Standing[]): string[] {
  return changes.map(({ changeId }) => changeId).toReversed();
}

async function* eventsOf(
  store: Store,
  namespace: string,
  range: { readonly sessionId: string; readonly afterSeq: number; readonly throughSeq: number; readonly kinds: readonly string[] },
): AsyncGenerator<{ readonly event: Event; readonly size: number }> {
  const { sessionId, throughSeq, kinds } = range;
  let { afterSeq } = range;
  while (true) {
    const { events } = await store.readEvents(namespace, sessionId, { afterSeq, throughSeq, limit: PAGE, deltas: false, kinds });
    for (const { bytes } of events) yield { event: fromBinary(EventSchema, bytes), size: bytes.byteLength };
    const last = events.at(-1);
    if (last === undefined || events.length < PAGE) return;
    afterSeq = last.seq;
  }
}

/** The last change of a page, as an opaque token. */
function token(seq: bigint): string {
  return Buffer.from(String(seq)).toString("base64url");
}

function parseToken(text: string): number {
  if (text === "") return 0;
  const seq = Buffer.from(text, "base64url").toString();
  if (!/^\d{1,15}$/.test(seq)) throw ForgeError.validation("page_token", "page_token is none that this server gave: begin again without it");
  return Number(seq);
}
