import { type Session, SessionStatusSchema, TurnOutcomeSchema, TurnStatusSchema } from "@forge/protocol/session";
import { errorLines } from "../output/error-report.ts";
import { formatMoment, momentMs } from "../output/format-time.ts";
import { formatCost, formatTokens } from "../output/format-usage.ts";
import { enumName } from "../output/message-json.ts";
import type { Style } from "../output/style.ts";
import { cut, oneLine, pad } from "../output/text.ts";

const LABEL_COLUMNS = 10;

/** A session and its last turn, for people. */
export function sessionLines(session: Session, style: Style, columns: number): string[] {
  const row = (label: string, text: string): string[] =>
    text === "" ? [] : [`${style.dim(pad(label, LABEL_COLUMNS))}${cut(oneLine(text), columns - LABEL_COLUMNS)}`];
  const { agent, parent, turn } = session;
  const labels = Object.entries(session.labels).map(([key, value]) => `${key}=${value}`);
  const outcome = turn === undefined || turn.outcome === 0 ? "" : ` ${enumName(TurnOutcomeSchema, turn.outcome)}`;
  return [
    `${style.bold(oneLine(session.title) || "session")}  ${enumName(SessionStatusSchema, session.status)}`,
    ...row("Session", session.sessionId),
    ...row("Model", agent?.model ?? ""),
    ...row("Tools", (agent?.tools ?? []).join(" ")),
    ...row("Started", formatMoment(momentMs(session.createdAt))),
    ...row("Used", `${formatTokens(session.usage)} tokens, ${formatCost(session.usage)}`),
    ...row("Labels", labels.join(" ")),
    ...row("For", parent === undefined ? "" : `step ${parent.stepId} of run ${parent.runId}`),
    ...row("Turns", String(session.turnCount)),
    ...(turn === undefined ? [] : row("Last turn", `${enumName(TurnStatusSchema, turn.status)}${outcome}`)),
    ...(turn?.openCalls ?? []).flatMap((call) =>
      row(
        "",
        `${call.name} ${call.approvalPending || call.inputPending ? `waits for an answer ${call.question}`.trimEnd() : call.cancellationPending ? "is asked to stop" : "runs"}`,
      ),
    ),
    ...(turn?.error === undefined ? [] : errorLines(turn.error, style)),
  ];
}
