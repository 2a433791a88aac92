import type { Event } from "@forge/protocol/event";
import { diffLines } from "../diff/diff-lines.ts";
import { formatDuration } from "../output/format-time.ts";
import type { Style } from "../output/style.ts";
import { oneLine } from "../output/text.ts";
import { objectOf, previewValue } from "../output/value.ts";
import { callText } from "./call-text.ts";
import { changeLines } from "./change-lines.ts";

export interface CallViewOptions {
  readonly style: Style;
  readonly columns: () => number;
  /** Of a diff, how many lines are shown. */
  readonly diffLinesMax: () => number;
}

/** Of what a command printed before it failed. */
const PRINTED_LINES_MAX = 8;
const INDENT = "  ";
/** Tools whose effect is shown as such, in place of the call. */
const SILENT_TOOLS: ReadonlySet<string> = new Set(["tools.ask", "tools.update_plan"]);

/** Tool calls as lines: what is called, what it would change, what came of it. */
export class CallView {
  readonly #options: CallViewOptions;
  /** Tools of calls that are open, by call. */
  readonly #tools = new Map<string, string>();

  constructor(options: CallViewOptions) {
    this.#options = options;
  }

  /** The lines of an event about a call; undefined of every other. */
  lines({ payload, toolCallId }: Event): string[] | undefined {
    const { style } = this.#options;
    const tool = this.#tools.get(toolCallId) ?? "";
    switch (payload.case) {
      case "toolRequested":
        this.#tools.set(toolCallId, payload.value.tool);
        return SILENT_TOOLS.has(payload.value.tool) ? [] : [`${style.cyan("⚙")} ${callText(payload.value.tool, payload.value.argumentsJson)}`];
      case "toolPreviewed":
        return this.#diff(payload.value.preview?.diff ?? "", payload.value.preview?.diffArtifact !== undefined);
      case "toolArgumentsEdited":
        return [`${INDENT}${style.yellow("✎")} changed by ${oneLine(payload.value.editedBy)}: ${callText(tool, payload.value.argumentsJson)}`];
      case "toolRetried":
        return [`${INDENT}${style.yellow("↻")} attempt ${payload.value.attempt} failed: ${oneLine(payload.value.error?.message ?? "")}`];
      case "toolCompleted":
        return this.#ended(toolCallId, this.#completed(tool, payload.value.durationMs, payload.value.output));
      case "toolFailed":
        return this.#ended(toolCallId, [`${INDENT}${style.red("✖")} ${oneLine(payload.value.error?.message ?? "")}`]);
      case "toolDenied":
        return this.#ended(toolCallId, [`${INDENT}${style.yellow("✖")} denied ${oneLine(payload.value.reason)}`]);
      case "toolCancelled":
        return this.#ended(toolCallId, [`${INDENT}${style.yellow("■")} cancelled`]);
      case "toolSettledUnknown":
        return this.#ended(toolCallId, [`${INDENT}${style.red("?")} nobody can say what happened: ${oneLine(payload.value.reason)}`]);
      case "approvalExpired":
        return [`${INDENT}${style.yellow("✖")} nobody answered in time: denied`];
      case "approvalResolved": {
        const { grant } = payload.value;
        if (grant === undefined) return [];
        return [style.dim(`${INDENT}also allowed: ${oneLine(grant.ruleTitle) || "calls of this category"}`)];
      }
      case "workspaceChangeRecorded":
        return changeLines(payload.value, style).map((line) => `${INDENT}${line}`);
      case "userProgressReported": {
        const { fraction, message } = payload.value;
        return [style.dim(`${INDENT}… ${fraction === undefined ? "" : `${Math.round(fraction * 100)} % `}${oneLine(message)}`)];
      }
      case "userStructuredReported":
        return [style.dim(`${INDENT}· ${oneLine(payload.value.type)} ${oneLine(payload.value.json)}`)];
      default:
        return undefined;
    }
  }

  #ended(toolCallId: string, lines: string[]): string[] {
    this.#tools.delete(toolCallId);
    return lines;
  }

  #diff(diff: string, isBeginning: boolean): string[] {
    if (diff === "") return [];
    const { style, columns, diffLinesMax } = this.#options;
    const lines = diffLines(diff, { style, columns: columns() - INDENT.length - 1, linesMax: diffLinesMax() });
    return [...lines, ...(isBeginning ? [style.dim("… (the whole is larger)")] : [])].map((line) => `${INDENT}${line}`);
  }

  #completed(tool: string, durationMs: bigint, output: Parameters<typeof previewValue>[0]): string[] {
    if (tool === "tools.update_plan") return [];
    const { style } = this.#options;
    const took = formatDuration(Number(durationMs));
    const result = objectOf(output);
    const code = result?.exit_code;
    if (typeof code !== "number") return [`${INDENT}${style.green("✔")} ${took} ${style.dim(previewValue(output))}`];
    const printed = [result?.stdout, result?.stderr]
      .flatMap((text) => (typeof text === "string" ? text.trimEnd().split("\n") : []))
      .filter((line) => line !== "");
    if (code === 0) return [`${INDENT}${style.green("✔")} ${took} exit code 0${printed.length === 0 ? "" : ` ${style.dim(oneLine(printed.at(-1) ?? ""))}`}`];
    // Why a check failed is what people look for.
    const end = printed.slice(-PRINTED_LINES_MAX).map((line) => style.dim(`${INDENT}${INDENT}${oneLine(line)}`));
    return [`${INDENT}${style.red("✖")} ${took} exit code ${code}`, ...end];
  }
}
