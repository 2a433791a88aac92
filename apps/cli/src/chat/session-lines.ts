import { CompactionReason, type Event } from "@forge/protocol/event";
import type { Plan } from "@forge/protocol/session";
import { ToolMode, ToolModeSchema } from "@forge/protocol/tool";
import { formatCost, formatTokens } from "../output/format-usage.ts";
import { enumName } from "../output/message-json.ts";
import type { Style } from "../output/style.ts";
import { oneLine } from "../output/text.ts";
import { refusalLines } from "./change-lines.ts";
import { planLines } from "./plan-lines.ts";

/** More are counted only. */
const SOURCES_MAX = 6;

function contextLine(sources: readonly string[]): string[] {
  if (sources.length === 0) return [];
  const more = sources.length > SOURCES_MAX ? ` and ${sources.length - SOURCES_MAX} more` : "";
  return [`Context: ${sources.slice(0, SOURCES_MAX).map(oneLine).join(", ")}${more}`];
}

const WHY_COMPACTED: Readonly<Record<CompactionReason, string>> = {
  [CompactionReason.UNSPECIFIED]: "",
  [CompactionReason.REQUESTED]: "",
  [CompactionReason.WINDOW]: ": it comes near the model's context window",
  [CompactionReason.OVERFLOW]: ": the model refused it as too long",
};

/** What happens to a session beside its answers and calls, as lines. */
export class SessionLines {
  readonly #style: Style;
  #plan: Plan | undefined;
  #mode: ToolMode = ToolMode.ACT;

  constructor(style: Style) {
    this.#style = style;
  }

  /** The lines of an event; undefined of one that is none of this. */
  lines({ payload }: Event): string[] | undefined {
    const style = this.#style;
    switch (payload.case) {
      case "planUpdated": {
        const before = this.#plan;
        this.#plan = payload.value.plan;
        return this.#plan === undefined ? [] : planLines(this.#plan, before, style);
      }
      case "turnStarted":
        // The next turn's plan is shown whole.
        this.#plan = undefined;
        return contextLine(payload.value.contextSources).map((line) => style.dim(line));
      case "sessionPolicyUpdated":
        return this.#policy(payload.value.policy?.mode ?? ToolMode.UNSPECIFIED, payload.value.grantsRevoked);
      case "sessionCompactionRequested":
        return [style.dim(`The conversation is being summarised${WHY_COMPACTED[payload.value.reason] ?? ""}.`)];
      case "sessionCompacted": {
        const { usage, model } = payload.value;
        return [
          style.dim(
            `The conversation was compacted${model === "" ? "" : ` by ${oneLine(model)}, ${formatTokens(usage)} tokens, ${formatCost(usage)}`}; its events stay.`,
          ),
        ];
      }
      case "sessionCompactionFailed":
        return [`${style.red("✖")} The conversation was not compacted: ${oneLine(payload.value.error?.message ?? "")}`];
      case "sessionRewound":
        return [style.dim("The conversation stands as it did before; the events stay.")];
      case "workspaceUndoRequested":
        return [style.dim(`Taking back ${payload.value.changeIds.length} ${payload.value.changeIds.length === 1 ? "change" : "changes"}.`)];
      case "workspaceChangeUndone": {
        const { changeIds, refused } = payload.value;
        return [
          `${style.green("↶")} ${changeIds.length} ${changeIds.length === 1 ? "change was" : "changes were"} taken back`,
          ...refusalLines(refused, style),
        ];
      }
      case "workspaceUndoFailed":
        return [`${style.red("✖")} Nothing was taken back: ${oneLine(payload.value.error?.message ?? "")}`];
      case "hookCompleted": {
        const count = payload.value.edits.length;
        return count === 0 ? [] : [style.dim(`⚓ ${oneLine(payload.value.hook)} made ${count} ${count === 1 ? "edit" : "edits"}`)];
      }
      case "hookFailed":
        return [`${style.yellow("⚓")} ${oneLine(payload.value.hook)} failed: ${oneLine(payload.value.error?.message ?? "")}`];
      default:
        return undefined;
    }
  }

  #policy(mode: ToolMode, areGrantsRevoked: boolean): string[] {
    const now = mode === ToolMode.UNSPECIFIED ? ToolMode.ACT : mode;
    const before = this.#mode;
    this.#mode = now;
    return [
      ...(now === before ? [] : [this.#style.dim(`Mode: ${enumName(ToolModeSchema, now).toLowerCase()}`)]),
      ...(areGrantsRevoked ? [this.#style.dim("What was granted holds no more.")] : []),
    ];
  }
}
