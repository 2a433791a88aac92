import type { Problem } from "../files/problem.ts";
import type { GitFacts } from "../git/git-facts.ts";
import type { IndexStatus } from "../index/index-status.ts";

/** What of a context comes from where. */
export type ContextKind = "rules" | "reference" | "media" | "git" | "skills" | "map";

/** One source of a context. */
export interface ContextItem {
  readonly kind: ContextKind;
  readonly source: string;
  /** As it is in the context; 0 where it was left out. Of an image or document, not counted. */
  readonly tokens: number;
  /** Bytes of the source's own text, or of the image or document. */
  readonly bytes: number;
  readonly state: "whole" | "cut" | "left out";
  readonly note?: string;
}

/** How the budget was spent. */
export interface ContextReport {
  readonly budgetTokens: number;
  /** Of all texts, marks included; an estimate. */
  readonly usedTokens: number;
  /** In order of their priority. */
  readonly items: readonly ContextItem[];
  readonly problems: readonly Problem[];
  readonly git: GitFacts | undefined;
  readonly index: IndexStatus | undefined;
}

/** The report for people, a line for each source and each problem; no line holds a control character. */
export function formatContextReport(report: ContextReport): string[] {
  const lines = [`context: about ${thousands(report.usedTokens)} of ${thousands(report.budgetTokens)} tokens`];
  for (const { kind, source, tokens, bytes, state, note } of report.items) {
    const amount = kind === "media" ? `${thousands(bytes)} bytes` : `${thousands(tokens)} tokens`;
    const rest = [...(state === "whole" ? [] : [state]), ...(note === undefined ? [] : [note])].join(", ");
    lines.push(`  ${kind.padEnd(9)} ${source === kind ? "" : `${source} `}${state === "left out" ? "" : amount}${rest === "" ? "" : ` (${rest})`}`);
  }
  if (report.index !== undefined) {
    const { state, files, sources, parsed } = report.index;
    lines.push(`index: ${state}, ${thousands(files)} files, definitions of ${thousands(parsed)} of ${thousands(sources)} read`);
    for (const note of report.index.notes) lines.push(`  ${note}`);
  }
  for (const { source, message } of report.problems) lines.push(`problem: ${source}: ${message}`);
  return lines.map((line) => line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd"));
}

function thousands(count: number): string {
  return count.toLocaleString("en-US");
}
