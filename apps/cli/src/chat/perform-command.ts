import { commandHeader } from "@forge/client";
import type { Session } from "@forge/protocol/session";
import { ToolMode, ToolModeSchema } from "@forge/protocol/tool";
import { modeOf } from "../agent/agent-spec.ts";
import type { TurnContext } from "../agent/turn-context.ts";
import { grantLines } from "../approvals/grant-lines.ts";
import { changeListLines, listChanges } from "../changes/list-changes.ts";
import { formatCost, formatTokens } from "../output/format-usage.ts";
import { enumName } from "../output/message-json.ts";
import type { Style } from "../output/style.ts";
import { cut, oneLine } from "../output/text.ts";
import { reviewSession } from "../review/review-session.ts";
import type { ProjectLink } from "../server/project-link.ts";
import type { Conversation } from "./conversation.ts";
import { type ChatCommand, slashHelp } from "./slash-command.ts";

export interface PerformContext {
  readonly link: ProjectLink;
  readonly conversation: Conversation;
  readonly turns: TurnContext;
  readonly style: Style;
  readonly columns: () => number;
  /** Throws where the workspace is not one in which nothing needs to be asked. */
  readonly checkBypass: () => Promise<void>;
}

/** What came of a command. */
export interface Performed {
  readonly told: readonly string[];
  /** The conversation goes on in this session. */
  readonly switchTo?: string;
  /** What is to stand in the next line already. */
  readonly typed?: string;
  readonly leaves?: boolean;
}

/** Does what a line that is a command says. Errors: conflict, where it does not fit; validation. */
export async function performCommand(context: PerformContext, line: ChatCommand): Promise<Performed> {
  const { link, conversation, style } = context;
  const { sessionId, state } = conversation;
  const header = commandHeader();
  const turnId = state.activeTurnId ?? "";
  switch (line.kind) {
    case "help":
      return { told: slashHelp() };
    case "quit":
      return { told: [], leaves: true };
    case "pause":
    case "continue":
      if (turnId === "") return { told: ["No turn is active."] };
      if (line.kind === "pause") await link.call((client) => client.session.pauseTurn({ header, sessionId, turnId }));
      else await link.call((client) => client.session.continueTurn({ header, sessionId, turnId }));
      return { told: [] };
    case "mode":
      return setMode(context, line.mode === undefined ? undefined : modeOf(line.mode));
    case "undo": {
      const { undoId } = await link.call((client) => client.session.undoChanges({ header, sessionId }));
      await conversation.until(() => state.isDone(undoId));
      return { told: [] };
    }
    case "rewind":
      return rewind(context, line);
    case "compact": {
      const { instructions } = line;
      const { compactionId } = await link.call((client) => client.session.compactSession({ header, sessionId, instructions }));
      await conversation.until(() => state.isDone(compactionId));
      return { told: [] };
    }
    case "fork": {
      const fork = await link.call((client) => client.session.forkSession({ header, sessionId, throughSeq: line.seq }));
      return { told: [`The fork: npx forge chat ${fork.sessionId}`] };
    }
    case "model": {
      const { model } = line;
      if (model === undefined)
        return { told: [`${oneLine((await snapshot(context)).agent?.model ?? "")}; /model provider/model goes on with another one, in a fork.`] };
      const fork = await link.call((client) => client.session.forkSession({ header, sessionId, model }));
      return { told: [`A session's agent stays what it is: this goes on in a fork, with ${oneLine(model)}.`], switchTo: fork.sessionId };
    }
    case "grants":
      return grants(context, line.revoke);
    case "cost": {
      const { usage, turn, turnCount } = await snapshot(context);
      return {
        told: [
          `Last turn: ${formatTokens(turn?.usage)} tokens, ${formatCost(turn?.usage)}`,
          `Session, ${turnCount} turns: ${formatTokens(usage)} tokens, ${formatCost(usage)}`,
        ],
      };
    }
    case "context":
      return { told: [...contextLines(await snapshot(context)), ...(await reportLines(context.turns))] };
    case "changes":
      return { told: changeListLines(await listChanges(link, sessionId), style) };
    case "review":
      return { told: (await reviewSession(link, sessionId)).markdown.trimEnd().split("\n") };
    default:
      return line satisfies never;
  }
}

async function snapshot({ link, conversation: { sessionId } }: PerformContext): Promise<Session> {
  return (await link.call((client) => client.session.getSessionSnapshot({ sessionId }))).session as Session;
}

async function setMode(context: PerformContext, mode: ToolMode | undefined): Promise<Performed> {
  const { link, conversation } = context;
  const policy = conversation.state.policy;
  const now = policy?.mode ?? ToolMode.UNSPECIFIED;
  if (mode === undefined) return { told: [`Mode: ${enumName(ToolModeSchema, now === ToolMode.UNSPECIFIED ? ToolMode.ACT : now).toLowerCase()}`] };
  if (mode === ToolMode.BYPASS) await context.checkBypass();
  const { $typeName: _name, $unknown: _unknown, ...rules } = policy ?? { $typeName: "forge.tool.v1.ToolPolicy" as const };
  const request = { header: commandHeader(), sessionId: conversation.sessionId, policy: { ...rules, mode } };
  await link.call((client) => client.session.updateSessionPolicy(request));
  // What came of it is told by its event, unless the mode was the same.
  return { told: mode === now ? [`Mode: ${enumName(ToolModeSchema, mode).toLowerCase()}`] : [] };
}

async function rewind({ link, conversation, columns }: PerformContext, line: Extract<ChatCommand, { readonly kind: "rewind" }>): Promise<Performed> {
  const { state, sessionId } = conversation;
  const { messages } = state;
  if (line.message === undefined) {
    if (messages.length === 0) return { told: ["Nothing was said in this session yet."] };
    const listed = messages.map(({ text }, index) => cut(`${String(index + 1).padStart(3)} ${oneLine(text)}`, columns() - 1));
    return { told: [...listed, "/rewind n goes back to before message n, with the files; /rewind n keep leaves the files as they are."] };
  }
  const message = messages[line.message - 1];
  if (message === undefined) return { told: [`There is no message ${line.message}: /rewind lists them.`] };
  const header = commandHeader();
  const { throughSeq } = message;
  const before = messages.length;
  const { undoId } = await link.call((client) => client.session.rewindSession({ header, sessionId, throughSeq, keepFiles: line.keepFiles === true }));
  await conversation.until(() => (undoId === "" ? state.messages.length < before : state.isDone(undoId)));
  // Where a file could not be taken back, nothing is rewound.
  return state.messages.length < before ? { told: [], typed: message.text } : { told: ["Nothing was rewound; /rewind n keep leaves the files as they are."] };
}

async function grants(context: PerformContext, isRevoking: boolean): Promise<Performed> {
  const { link, conversation, style } = context;
  if (!isRevoking) return { told: grantLines((await snapshot(context)).grants, style) };
  const { $typeName: _name, $unknown: _unknown, ...policy } = conversation.state.policy ?? { $typeName: "forge.tool.v1.ToolPolicy" as const };
  const request = { header: commandHeader(), sessionId: conversation.sessionId, policy, revokeGrants: true };
  await link.call((client) => client.session.updateSessionPolicy(request));
  return { told: [] };
}

/** What the host put before the last turn of this conversation. */
async function reportLines({ report }: TurnContext): Promise<string[]> {
  return report === undefined ? [] : (await import("@forge/context")).formatContextReport(report);
}

function contextLines({ context, turn }: Session): string[] {
  const tokens = Number(context?.tokens ?? 0n);
  const window = context?.windowTokens ?? 0;
  const share = window === 0 ? "; the model's window is not known" : ` of ${window}, ${Math.round((100 * tokens) / window)} %`;
  return [`About ${tokens} tokens${share}`, `Last turn: ${formatTokens(turn?.usage)} tokens`];
}
