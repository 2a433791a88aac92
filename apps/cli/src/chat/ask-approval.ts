import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { ApprovalCategory, type ApprovalScope, Decision } from "@forge/protocol/tool";
import type { ApprovalAnswer } from "../approvals/approval-answer.ts";
import { APPROVAL_KEYS, approvalKey } from "../approvals/approval-keys.ts";
import { categoryText } from "../approvals/category.ts";
import { type PatchPart, patchParts } from "../approvals/patch-parts.ts";
import { diffLines } from "../diff/diff-lines.ts";
import type { Style } from "../output/style.ts";
import { oneLine, safeText } from "../output/text.ts";
import { callText, objectFrom } from "./call-text.ts";
import type { OpenApproval } from "./open-calls.ts";

export interface AskApprovalOptions {
  readonly approval: OpenApproval;
  readonly style: Style;
  readonly columns: () => number;
  readonly print: (line: string) => void;
  /** One line from the person; undefined where there will be none: the question was taken away, or the person left. */
  readonly ask: (prompt: string, text?: string) => Promise<string | undefined>;
  readonly edit: (text: string, name: string) => Promise<string>;
  /** The whole of a diff of which the preview has the beginning. */
  readonly readDiff: (sha256: string) => Promise<string>;
}

/** Asks a person about a call until there is an answer; undefined where there will be none. */
export async function askApproval(options: AskApprovalOptions): Promise<ApprovalAnswer | undefined> {
  const { approval, style, ask, print } = options;
  const title = approval.preview?.title || callText(approval.tool, approval.argumentsJson);
  print(`${style.yellow("?")} ${style.bold("Allow")} ${oneLine(title)}${style.bold("?")}`);
  for (;;) {
    const typed = await ask(`  ${APPROVAL_KEYS}: `);
    if (typed === undefined) return undefined;
    const key = approvalKey(typed);
    switch (key.kind) {
      case "allow":
        return { decision: Decision.ALLOW };
      case "grant": {
        const granted = await askGrant(options, key.scope);
        if (granted !== undefined) return granted;
        break;
      }
      case "deny":
        return { decision: Decision.DENY, comment: key.comment, stopTurn: key.stops };
      case "edit": {
        const edited = await askEdit(options).catch((error: unknown) => {
          if (!(error instanceof ForgeError && error.code === ErrorCode.INTERNAL)) throw error;
          print(style.red(error.message));
          return undefined;
        });
        if (edited !== undefined) return { decision: Decision.ALLOW, ...(edited === approval.argumentsJson ? {} : { editedArgumentsJson: edited }) };
        break;
      }
      case "view":
        await showWhole(options);
        break;
      case "unclear":
        break;
      default:
        return key satisfies never;
    }
  }
}

/** What beyond this call is allowed: exactly what a rule stands for, or a whole category. */
async function askGrant(
  { approval: { preview, category }, style, ask, print }: AskApprovalOptions,
  scope: typeof ApprovalScope.TURN | typeof ApprovalScope.SESSION,
): Promise<ApprovalAnswer | undefined> {
  const choices: { readonly key: string; readonly text: string; readonly answer: ApprovalAnswer }[] = [];
  if (preview !== undefined && preview.ruleKey !== "")
    choices.push({ key: "r", text: `only ${oneLine(preview.ruleTitle || preview.ruleKey)}`, answer: { decision: Decision.ALLOW, scope, rememberRule: true } });
  choices.push({ key: "c", text: categoryText(category), answer: { decision: Decision.ALLOW, scope, category } });
  choices.push({ key: "all", text: "everything that would be asked", answer: { decision: Decision.ALLOW, scope, category: ApprovalCategory.ALL } });
  for (const { key, text } of choices) print(`  ${style.bold(key.padEnd(3))} ${text}`);
  const typed = (await ask(`${style.yellow("?")} Which? Enter goes back: `))?.trim().toLowerCase();
  return choices.find(({ key }) => key === typed)?.answer;
}

/** The arguments that are to be executed; undefined where the person went back. */
async function askEdit(options: AskApprovalOptions): Promise<string | undefined> {
  const { approval, ask, edit, print, style } = options;
  const args = objectFrom(approval.argumentsJson);
  if (args === undefined) {
    print(style.yellow("The arguments are no JSON object, and so can't be edited."));
    return undefined;
  }
  if (approval.tool === "tools.shell" && typeof args.command === "string" && !args.command.includes("\n")) {
    const command = await ask(`${style.yellow("?")} Command: `, args.command);
    return command === undefined || command.trim() === "" || command === args.command ? undefined : JSON.stringify({ ...args, command });
  }
  const parts = approval.tool === "tools.patch" ? patchParts(args) : undefined;
  if (parts !== undefined) return askParts(options, parts);
  const before = JSON.stringify(args, undefined, 2);
  const edited = await edit(`${before}\n`, "arguments.json");
  if (objectFrom(edited) === undefined) {
    print(style.yellow("That is no JSON object: nothing was changed."));
    return undefined;
  }
  return edited.trim() === before ? undefined : JSON.stringify(JSON.parse(edited));
}

/** Part by part: taken, left out, or edited. */
async function askParts(options: AskApprovalOptions, { parts, join }: NonNullable<ReturnType<typeof patchParts>>): Promise<string | undefined> {
  const { ask, edit, print, style } = options;
  const kept: (string | undefined)[] = [];
  for (const [index, part] of parts.entries()) {
    for (const line of partLines(options, part)) print(line);
    const typed = await ask(`${style.yellow("?")} ${index + 1}/${parts.length}: [y]es, [n]o, [e]dit, [a]ll the rest, no[t] the rest, Enter goes back: `);
    const key = typed?.trim().toLowerCase() ?? "";
    if (["y", "yes"].includes(key)) kept.push(part.text);
    else if (["n", "no"].includes(key)) kept.push(undefined);
    else if (["e", "edit"].includes(key)) kept.push(await edit(part.text, "part.diff"));
    else if (["a", "all"].includes(key)) {
      kept.push(...parts.slice(index).map(({ text }) => text));
      break;
    } else if (["t", "not"].includes(key)) break;
    else return undefined;
  }
  // All of it as it was is no edit.
  if (parts.every(({ text }, index) => kept[index] === text)) return options.approval.argumentsJson;
  const joined = join(parts.map((_, index) => kept[index]));
  if (joined === undefined) print(style.yellow("Nothing of it is left: deny it with d."));
  return joined;
}

function partLines({ style, columns }: AskApprovalOptions, { path, diff }: PatchPart): string[] {
  return [style.bold(oneLine(path)), ...diffLines(diff, { style, columns: columns() - 1, linesMax: Number.POSITIVE_INFINITY })];
}

/** All of what is asked about: the arguments as they are, and the whole diff. */
async function showWhole({ approval, style, columns, print, readDiff }: AskApprovalOptions): Promise<void> {
  const { preview } = approval;
  if (preview === undefined || preview.diff === "") {
    print(safeText(approval.argumentsJson));
    return;
  }
  const diff = preview.diffArtifact === undefined ? preview.diff : await readDiff(preview.diffArtifact.sha256);
  for (const line of diffLines(diff, { style, columns: columns() - 1, linesMax: Number.POSITIVE_INFINITY })) print(line);
}
