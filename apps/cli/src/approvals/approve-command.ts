import { readFile } from "node:fs/promises";
import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { ResolveApprovalResponseSchema } from "@forge/protocol/event";
import { ApprovalCategory, ApprovalScope, Decision, type PendingApproval } from "@forge/protocol/tool";
import type { Run } from "@forge/protocol/workflow";
import type { CommandOptions } from "../arguments/command-options.ts";
import { headerOf } from "../arguments/header-of.ts";
import { objectFrom } from "../chat/call-text.ts";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { checkId, findStream } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import type { ApprovalAnswer } from "./approval-answer.ts";
import { approvalText, pendingApprovals } from "./pending.ts";

export interface ApproveOptions extends ServerOptions, CommandOptions {
  readonly deny?: boolean;
  readonly comment?: string;
  readonly scope?: "ONCE" | "TURN" | "SESSION";
  readonly category?: Exclude<keyof typeof ApprovalCategory, "UNSPECIFIED">;
  readonly rule?: boolean;
  /** JSON, or @file. */
  readonly edit?: string;
  readonly stop?: boolean;
}

/** `forge approve`: answers what a run or session waits for. */
export async function approveCommand(context: Context, id: string, approvalId: string | undefined, options: ApproveOptions): Promise<number> {
  const { terminal } = context;
  checkId(id);
  const { link } = await openExisting(context, options, { reads: false });
  try {
    const { stream, approvalId: found, ...asked } = await choose(link, id, approvalId);
    const header = headerOf(options);
    const resolution = await resolutionOf(context, options);
    const answer = await link.call((client) => client.approval.resolveApproval({ header, stream, approvalId: found, ...resolution }));
    terminal.print(
      options.json === true
        ? messageLine(ResolveApprovalResponseSchema, answer)
        : `${options.deny === true || options.stop === true ? "Denied" : "Approved"}: ${approvalText(asked)}`.trimEnd(),
    );
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

/** What the options say. Errors: validation, where they don't go together. */
async function resolutionOf({ directory }: Context, options: ApproveOptions): Promise<ApprovalAnswer> {
  const isDenied = options.deny === true || options.stop === true;
  const beyond = options.category !== undefined || options.rule === true;
  if (isDenied && (beyond || options.scope !== undefined || options.edit !== undefined))
    throw ForgeError.validation("decision", "--scope, --category, --rule and --edit say what is allowed: leave them out, or --deny and --stop");
  if (beyond && (options.scope ?? "ONCE") === "ONCE")
    throw ForgeError.validation("scope", "how long? Write --scope turn or --scope session beside --category or --rule");
  if (!beyond && options.scope !== undefined && options.scope !== "ONCE")
    throw ForgeError.validation("scope", "what beyond this call? Write --category, or --rule for calls like this one, beside --scope");
  return {
    decision: isDenied ? Decision.DENY : Decision.ALLOW,
    comment: options.comment ?? "",
    scope: ApprovalScope[options.scope ?? "UNSPECIFIED"],
    category: ApprovalCategory[options.category ?? "UNSPECIFIED"],
    rememberRule: options.rule === true,
    editedArgumentsJson: options.edit === undefined ? "" : await readEdit(directory, options.edit),
    stopTurn: options.stop === true,
  };
}

async function readEdit(directory: string, edit: string): Promise<string> {
  const text = edit.startsWith("@") ? await readFile(path.resolve(directory, edit.slice(1)), "utf8") : edit;
  if (objectFrom(text) === undefined) throw ForgeError.validation("edited_arguments_json", "--edit takes a JSON object, or @file with one");
  return text;
}

/** Runs that a person means with one of them: as many as anybody would look through. */
const RUNS_MAX = 100;

/** A run, the sessions that work for it, and the runs that it started, with theirs. */
async function streamsOf(link: ProjectLink, run: Run): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const runs = [run];
  for (const { runId, steps } of runs) {
    ids.add(runId);
    for (const { sessionId, childRunId, finishedAt } of steps) {
      if (sessionId !== "") ids.add(sessionId);
      if (childRunId === "" || finishedAt !== undefined || runs.length >= RUNS_MAX) continue;
      const child = await link.call((client) => client.workflow.getRun({ runId: childRunId })).catch(orNotThereYet);
      if (child?.run !== undefined) runs.push(child.run);
    }
  }
  return ids;
}

/** A run that was decided on a moment ago asks nobody. */
function orNotThereYet(error: unknown): undefined {
  if (error instanceof ForgeError && error.code === ErrorCode.NOT_FOUND) return undefined;
  throw error;
}

/** The one approval that is meant. An id that is given whole is tried even if it no longer waits: the server then says who answered. */
async function choose(
  link: ProjectLink,
  id: string,
  approvalId: string | undefined,
): Promise<Pick<PendingApproval, "stream" | "approvalId" | "tool" | "argumentsPreview" | "question">> {
  const found = await findStream(link, id);
  const ids = found.kind === StreamKind.RUN ? await streamsOf(link, found.run) : new Set([id]);
  const pending = (await pendingApprovals(link)).filter(({ stream }) => ids.has(stream?.id ?? ""));
  if (approvalId !== undefined) {
    const stream = { $typeName: "forge.common.v1.StreamRef" as const, kind: found.kind, id };
    return pending.find((each) => each.approvalId === approvalId) ?? { stream, approvalId, tool: "", argumentsPreview: "", question: "" };
  }
  const [only, ...others] = pending;
  if (only === undefined)
    throw new ForgeError(ErrorCode.NOT_FOUND, `nothing waits for an answer in ${id}: \`forge approvals\` lists what does`, {
      reason: "APPROVAL_NOT_FOUND",
      relatedIds: [id],
    });
  if (others.length > 0) {
    const listed = pending.map((each) => `${each.approvalId} (${approvalText(each).slice(0, 80)})`).join(", ");
    throw ForgeError.validation("approval_id", `${pending.length} questions wait for an answer in ${id}: name one of ${listed}`, {
      relatedIds: pending.map((each) => each.approvalId),
    });
  }
  return only;
}
