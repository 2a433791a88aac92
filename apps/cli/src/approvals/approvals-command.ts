import { PendingApprovalSchema } from "@forge/protocol/tool";
import type { Context, ServerOptions } from "../context.ts";
import { diffLines } from "../diff/diff-lines.ts";
import { EXIT } from "../exit-code.ts";
import { formatAge, momentMs } from "../output/format-time.ts";
import { messageLine } from "../output/message-json.ts";
import { oneLine } from "../output/text.ts";
import { openReading } from "../server/open-link.ts";
import { categoryText } from "./category.ts";
import { approvalText, pendingApprovals } from "./pending.ts";

const DIFF_LINES_MAX = 60;

/** `forge approvals`: what waits for a person, oldest first. */
export async function approvalsCommand(context: Context, options: ServerOptions): Promise<number> {
  const { terminal } = context;
  const opened = await openReading(context, options);
  if (opened === undefined) {
    if (options.json !== true) terminal.note("nothing waits for an answer");
    return EXIT.OK;
  }
  const { link, hint } = opened;
  try {
    const pending = await pendingApprovals(link);
    if (options.json === true) {
      for (const approval of pending) terminal.print(messageLine(PendingApprovalSchema, approval));
      return EXIT.OK;
    }
    if (pending.length === 0) terminal.note("nothing waits for an answer");
    for (const approval of pending) {
      const { stream, approvalId, stepId, requestedAt, preview, category } = approval;
      const since = formatAge(momentMs(requestedAt), Date.now());
      // Whole: nobody should have to answer a call of which they see a part.
      terminal.print(`${terminal.style.yellow("?")} ${terminal.style.bold(approvalText(approval))}`);
      if (preview !== undefined) {
        const { style } = terminal;
        terminal.print(`  ${oneLine(preview.title)}`);
        for (const line of diffLines(preview.diff, { style, columns: terminal.columns() - 3, linesMax: DIFF_LINES_MAX })) terminal.print(`  ${line}`);
        if (preview.ruleKey !== "")
          terminal.print(`  ${style.dim(`with --rule: ${oneLine(preview.ruleTitle || preview.ruleKey)}; with --category: ${categoryText(category)}`)}`);
      }
      terminal.print(`  ${terminal.style.dim(`${stepId === "" ? "" : `step ${oneLine(stepId)} `}waits for ${since}`)}`);
      terminal.print(`  npx forge approve ${stream?.id ?? ""} ${approvalId}${hint}`);
    }
    return EXIT.OK;
  } finally {
    await link.close();
  }
}
