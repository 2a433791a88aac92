import { argumentsFor } from "./arguments.ts";
import { type BugReport, readBugReport } from "./bug-report.ts";
import { type DemoConversation, type DemoToolResult, findTool } from "./conversation.ts";
import type { DemoModel } from "./script.ts";

const FILES_MAX = 3;

/** Files that a search's answer names, once each, code before prose: as JSON where it is that, else whatever looks like a path. */
function filesIn(output: string): string[] {
  const named = Array.from(output.matchAll(/"(?:file|path)"\s*:\s*"([^"\\]+)"/gu), (match) => match[1] as string);
  const paths = new Set(named.length > 0 ? named : (output.match(/[\p{L}\p{N}@_./-]+\.[a-z]{1,5}\b/gu) ?? []));
  const isProse = (path: string): boolean => /\.(?:md|txt)$/.test(path);
  return [...paths].toSorted((a, b) => Number(isProse(a)) - Number(isProse(b))).slice(0, FILES_MAX);
}

function finding({ isError, output }: DemoToolResult, { identifier }: BugReport): string {
  if (isError) return ` The search for "${identifier}" did not come to an end: ${output.slice(0, 200).toWellFormed()}`;
  const files = filesIn(output);
  return files.length > 0 ? ` "${identifier}" is found in ${files.join(", ")}.` : ` A search for "${identifier}" found no file.`;
}

function answer(report: BugReport, conversation: DemoConversation): string {
  const result = conversation.results[0];
  const title = /[.!?\u3002\uff01\uff1f]$/u.test(report.title) ? report.title : `${report.title}.`;
  const summary = report.isBugReport ? `${title}${result ? finding(result, report) : ""}` : `This does not look like a bug report: ${title}`;
  return JSON.stringify({ summary, severity: report.severity }, undefined, 2);
}

/**
 * Looks for the first stack frame with a search tool, where it has one, and answers with a summary and a severity as JSON. Only a search is ever called:
 * what another tool would do with a guessed argument nobody knows.
 */
export const triage: DemoModel = (conversation) => {
  const report = readBugReport(conversation.lastUserText);
  const search = findTool(conversation, "search");
  if (report.isBugReport && search && conversation.results.length === 0) {
    return [
      { kind: "reasoning", text: `I look for "${report.identifier}" first.` },
      { kind: "call", tool: search.wireName, input: argumentsFor(search, report.identifier) },
    ];
  }
  return [{ kind: "text", text: answer(report, conversation) }];
};
