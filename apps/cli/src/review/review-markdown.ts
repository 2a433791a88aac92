import { safeText } from "../output/text.ts";
import type { Review, ReviewedCall, ReviewedChange, ReviewedTurn, ReviewedUsage } from "./review.ts";

/** A review for people, as Markdown. What a model or a tool wrote can't break out of where it stands. */
export function reviewMarkdown(review: Review): string {
  const { session, turns, changes, history, usage, omitted } = review;
  const left = Object.entries(omitted).filter(([, count]) => count > 0);
  return [
    `# Review of session ${session.id}`,
    "",
    ...(session.title === "" ? [] : [`Title: ${line(session.title)}  `]),
    `Model: ${line(session.model)}, mode: ${session.mode}${session.created_at === null ? "" : `, since ${session.created_at}`}  `,
    `Used: ${usageText(usage)}`,
    "",
    ...turns.flatMap(turnLines),
    "## Changes of files",
    "",
    ...(changes.length === 0 ? ["None.", ""] : changes.flatMap(changeLines)),
    ...(history.length === 0 ? [] : ["## What else happened to the session", "", ...history.map((each) => `- ${line(each)}`), ""]),
    ...(left.length === 0 ? [] : [`Left out, because it is too much: ${left.map(([what, count]) => `${count} ${what}`).join(", ")}.`, ""]),
  ].join("\n");
}

function turnLines(turn: ReviewedTurn, index: number): string[] {
  const { asked, steered, context, planned, calls, hooks, answer, outcome, error, usage } = turn;
  const evidence = calls.filter(({ is_evidence: isEvidence }) => isEvidence);
  const others = calls.filter(({ is_evidence: isEvidence }) => !isEvidence);
  return [
    `## Turn ${index + 1}: ${outcome}`,
    "",
    ...quoted("Asked", [asked, ...steered]),
    ...(context.length === 0 ? [] : [`Context: ${context.map(code).join(", ")}`, ""]),
    ...(planned.length === 0
      ? []
      : [
          "Planned:",
          "",
          ...planned.map(({ step, status }) => `- [${status === "completed" ? "x" : " "}] ${line(step)}${status === "in_progress" ? " (in progress)" : ""}`),
          "",
        ]),
    ...(others.length === 0 ? [] : ["Did:", "", ...others.map(callLine), ""]),
    ...(evidence.length === 0 ? [] : ["Proved:", "", ...evidence.map(callLine), ""]),
    ...(hooks.length === 0
      ? []
      : [
          "Hooks:",
          "",
          ...hooks.map((hook) => `- ${line(hook.hook)} at ${hook.at}: ${hook.error === null ? `${hook.edits} edits` : `failed, ${line(hook.error)}`}`),
          "",
        ]),
    ...(error === null ? [] : [`Failed: ${line(error)}`, ""]),
    ...quoted("Answered", [answer]),
    `Used: ${usageText(usage)}`,
    "",
  ];
}

function callLine({ what, outcome, exit_code: exitCode, duration_ms: ms, error, decided, decided_by: by, comment, edited_by: editor }: ReviewedCall): string {
  const facts = [
    outcome,
    ...(exitCode === null ? [] : [`exit code ${exitCode}`]),
    ...(ms === null ? [] : [`${ms} ms`]),
    ...(decided === "" ? [] : [`${line(decided)}${by === "" ? "" : ` by ${line(by)}`}`]),
    ...(editor === null ? [] : [`arguments changed by ${line(editor)}`]),
    ...(comment === "" ? [] : [`"${line(comment)}"`]),
    ...(error === null ? [] : [line(error)]),
  ];
  return `- ${code(what)}: ${facts.join(", ")}`;
}

function changeLines({ id, tool, files, observed, undone, not_undoable: notUndoable, diff }: ReviewedChange): string[] {
  return [
    `### ${line(tool) || "change"} ${id}${undone ? " (taken back)" : ""}${observed ? " (found by comparing)" : ""}`,
    "",
    ...files.map(
      (file) =>
        `- ${code(file.path)}${file.before_sha256 === "" ? " new" : file.after_sha256 === "" ? " deleted" : ""}, +${file.added} -${file.removed}${file.not_undoable === "" ? "" : `, can't be undone: ${line(file.not_undoable)}`}`,
    ),
    ...notUndoable.map((each) => `- can't be undone: ${line(each)}`),
    "",
    ...(diff === "" ? [] : [...fenced(diff, "diff"), ""]),
  ];
}

function quoted(title: string, texts: readonly string[]): string[] {
  const said = texts.filter((text) => text !== "");
  if (said.length === 0) return [];
  return [
    `${title}:`,
    "",
    ...said
      .flatMap((text) => [
        ...safeText(text)
          .split("\n")
          .map((each) => `> ${each}`),
        ">",
      ])
      .slice(0, -1),
    "",
  ];
}

/** A block whose fence is longer than any in it. */
function fenced(text: string, language: string): string[] {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([fence]) => fence.length));
  const fence = "`".repeat(longest + 1);
  return [`${fence}${language}`, safeText(text).trimEnd(), fence];
}

function line(text: string): string {
  return safeText(text).replaceAll(/\s+/g, " ").trim();
}

function code(text: string): string {
  const shown = line(text);
  const fence = "`".repeat(1 + Math.max(0, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length)));
  return fence.length === 1 ? `\`${shown}\`` : `${fence} ${shown} ${fence}`;
}

function usageText({ input_tokens: input, output_tokens: output, cached_input_tokens: cached, cost_usd: cost }: ReviewedUsage): string {
  return `${input} tokens in (${cached} cached), ${output} out, ${cost === null ? "cost not known" : `$${cost.toFixed(4)}`}`;
}
