import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type Event, EventSchema } from "@forge/protocol/event";
import { type Session, TurnOutcome } from "@forge/protocol/session";
import { Decision } from "@forge/protocol/tool";
import type { TurnInput } from "../agent/turn-context.ts";
import { callText } from "../chat/call-text.ts";
import { ChatView } from "../chat/chat-view.ts";
import { Conversation } from "../chat/conversation.ts";
import type { Context } from "../context.ts";
import { errorLines } from "../output/error-report.ts";
import { messageJson } from "../output/message-json.ts";
import type { Terminal } from "../output/terminal.ts";
import { safeText } from "../output/text.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { onSignals } from "../signals.ts";
import { approveByCategory } from "./approve-by-category.ts";
import type { ApproveName } from "./approve-names.ts";
import { execResult } from "./exec-result.ts";
import { execExitCode } from "./exit-codes.ts";
import { type StopReason, TurnRecord } from "./turn-record.ts";

export interface FollowTurnOptions {
  readonly link: ProjectLink;
  readonly session: Session;
  readonly hint: string;
  readonly input: TurnInput;
  readonly approved: readonly ApproveName[];
  readonly json: boolean;
  readonly hasSchema: boolean;
  readonly deadlineMs?: number;
}

const DELTAS = ["turn.output_delta", "tool.output_delta", "user.progress_reported", "user.structured_reported"];
/** What a call and its result are cut at: a line that a person still reads. */
const COLUMNS = 240;
/** The control plane ends a new session's turn by its own clock; this one is for a session without such a bound, and for what does not answer. */
const LATE_MS = 5_000;
/** So long a turn that was asked to stop is waited for. */
const STOP_MS_MAX = 60_000;

/** One turn to its end, with answers in a person's place. SIGINT, SIGTERM and a hangup cancel it, for nobody would answer what it asks; a second one leaves at once. */
export async function followTurn({ terminal }: Context, options: FollowTurnOptions): Promise<number> {
  const { link, session, input, approved, json, hasSchema, deadlineMs, hint } = options;
  const { sessionId } = session;
  const view = new ChatView({ style: terminal.errorStyle, columns: () => COLUMNS });
  const record = new TurnRecord();
  let isOwnTurn = false;
  const conversation: Conversation = new Conversation({
    link,
    sessionId,
    excludeKinds: DELTAS,
    onEvent: (event, isOwn) => {
      isOwnTurn ||= isOwn && event.payload.case === "turnStarted";
      if (!isOwnTurn) return;
      record.apply(event);
      if (json) terminal.print(JSON.stringify({ event: messageJson(EventSchema, event) }));
      else if (!isShownAtTheEnd(event)) note(terminal, view.apply(event));
    },
    onChildEvent: (event) => {
      if (!isOwnTurn) return;
      record.applyChild(event);
      if (json) terminal.print(JSON.stringify({ event: messageJson(EventSchema, event) }));
      else note(terminal, view.applyChild(event));
    },
  });
  const left = new AbortController();
  const stop = (reason: StopReason): void => {
    record.stopped ??= reason;
    setTimeout(() => left.abort(), STOP_MS_MAX).unref();
    conversation.cancel().catch((error: unknown) => terminal.note(error instanceof Error ? error.message : String(error)));
  };
  const onSignal = (): void => (record.stopped === undefined && conversation.state.activeTurnId !== undefined ? stop("cancelled") : left.abort());
  const release = onSignals({ SIGINT: onSignal, SIGTERM: onSignal, SIGHUP: onSignal });
  const lateMs = deadlineMs === undefined ? undefined : deadlineMs + (session.agent?.budget?.wallTime === undefined ? 0 : LATE_MS);
  const late = lateMs === undefined ? undefined : setTimeout(() => stop("late"), lateMs);
  if (!json) terminal.note(terminal.errorStyle.dim(`Session ${sessionId}, ${session.agent?.model ?? ""}. Look at it: npx forge review ${sessionId}${hint}`));
  try {
    await conversation.until(({ isCaughtUp }) => isCaughtUp, left.signal);
    if (!(await conversation.say(input))) {
      const message = `session ${sessionId} has an active turn: wait for it, or cancel it (npx forge cancel ${sessionId}${hint})`;
      throw new ForgeError(ErrorCode.CONFLICT, message, { reason: "TURN_ACTIVE", relatedIds: [sessionId] });
    }
    await answerUntilEnd(conversation, { approved, record, stop, signal: left.signal });
  } finally {
    clearTimeout(late);
    release();
    await conversation.leave();
  }
  const exitCode = execExitCode(record.end);
  const { end, turnId, text, usage, durationMs, changed, unapproved } = record;
  if (json)
    terminal.print(JSON.stringify({ result: execResult({ sessionId, turnId, end, text, hasSchema, usage, durationMs, changed, unapproved, exitCode }) }));
  else tell(terminal, record);
  return exitCode;
}

/** Answers what would wait for a person, until the turn is over. */
async function answerUntilEnd(
  conversation: Conversation,
  {
    approved,
    record,
    stop,
    signal,
  }: { readonly approved: readonly ApproveName[]; readonly record: TurnRecord; readonly stop: (reason: StopReason) => void; readonly signal: AbortSignal },
): Promise<void> {
  const { state } = conversation;
  while (state.activeTurnId !== undefined && !signal.aborted) {
    const { approval, question } = state;
    if (approval !== undefined && record.stopped === undefined) {
      const answer = approveByCategory(approval, approved);
      if (answer.decision === Decision.DENY) record.deny(callText(approval.tool, approval.argumentsJson));
      await conversation.answer(approval, answer);
    } else if (question !== undefined && record.stopped === undefined) {
      record.deny("a question");
      stop("question");
    }
    await conversation.until(
      (now) => now.activeTurnId === undefined || (record.stopped === undefined && (now.approval !== undefined || now.question !== undefined)),
      signal,
    );
  }
}

/** The last answer is what standard output is for, and what was asked is known. */
function isShownAtTheEnd({ payload }: Event): boolean {
  if (payload.case === "messageAdded" || payload.case === "turnFailed") return true;
  return payload.case === "modelCompleted" && payload.value.parts.every(({ kind }) => kind.case !== "toolCall");
}

function note(terminal: Terminal, text: string): void {
  if (text !== "") terminal.note(text.replace(/\n$/, ""));
}

function tell(terminal: Terminal, { text, end, unapproved }: TurnRecord): void {
  const { errorStyle: style } = terminal;
  for (const each of unapproved) terminal.note(style.yellow(`needed an approval: ${each}`));
  if (end.error !== undefined) for (const line of errorLines(end.error, style)) terminal.note(line);
  if (end.outcome === TurnOutcome.TASK_COMPLETED || text !== "") terminal.print(safeText(text).trimEnd());
}
