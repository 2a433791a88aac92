import { MODE_NAMES, type ModeName } from "../agent/agent-options.ts";

/** What a line in a chat means. */
export type ChatLine =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "help" | "quit" | "pause" | "continue" | "undo" | "review" | "cost" | "context" | "changes" }
  | { readonly kind: "mode"; readonly mode?: ModeName }
  | { readonly kind: "rewind"; readonly message?: number; readonly keepFiles?: boolean }
  | { readonly kind: "compact"; readonly instructions: string }
  | { readonly kind: "model"; readonly model?: string }
  | { readonly kind: "grants"; readonly revoke: boolean }
  | { readonly kind: "fork"; readonly seq: bigint }
  | { readonly kind: "wrong"; readonly why: string };

export type ChatCommand = Exclude<ChatLine, { readonly kind: "say" | "wrong" }>;

/** Commands as they are typed, with what they take and do. */
export const SLASH_COMMANDS: readonly { readonly name: string; readonly takes: string; readonly does: string }[] = [
  { name: "help", takes: "", does: "shows this" },
  { name: "plan", takes: "", does: "from now on the agent only reads, and plans" },
  { name: "act", takes: "", does: "from now on it acts, and you are asked" },
  { name: "mode", takes: "[plan|act|bypass]", does: "shows how much it may do, or sets it" },
  { name: "approve", takes: "[revoke]", does: "lists what you allowed for the turn or the session, or takes it back" },
  { name: "undo", takes: "", does: "takes back the changes of files of the last turn that made any" },
  { name: "rewind", takes: "[n [keep]]", does: "lists your messages, or goes back to before message n, files too unless they are to be kept" },
  { name: "changes", takes: "", does: "lists the changes of files, and which still stand" },
  { name: "review", takes: "", does: "shows what was asked, planned, changed, run and proven" },
  { name: "compact", takes: "[instructions]", does: "lets the model summarise the conversation" },
  { name: "context", takes: "", does: "shows how full the model's context is" },
  { name: "cost", takes: "", does: "shows what was used" },
  { name: "model", takes: "[provider/model]", does: "shows the model, or goes on with another one, in a fork of this session" },
  { name: "pause", takes: "", does: "holds the turn before its next dispatch" },
  { name: "continue", takes: "", does: "lets a paused turn go on" },
  { name: "fork", takes: "[seq]", does: "makes a session with this one's history" },
  { name: "quit", takes: "", does: "leaves; the session stays" },
];

const PLAIN = new Set(["help", "quit", "pause", "continue", "undo", "review", "cost", "context", "changes"] as const);
type PlainName = typeof PLAIN extends Set<infer Name> ? Name : never;

/** A line that begins with a slash is a command; with two it is said, without the first. */
export function parseChatLine(line: string): ChatLine {
  if (line.startsWith("//")) return { kind: "say", text: line.slice(1) };
  const match = /^\/([^\s/]*)(?:\s+([\s\S]*))?$/u.exec(line.trim());
  // A path at a line's beginning is said.
  if (match === null) return { kind: "say", text: line };
  const [, name = "", rest = ""] = match;
  if (PLAIN.has(name as PlainName)) return rest === "" ? { kind: name as PlainName } : { kind: "wrong", why: `/${name} takes nothing more.` };
  return withArgument(name, rest);
}

function withArgument(name: string, rest: string): ChatLine {
  switch (name) {
    case "plan":
    case "act":
      return rest === "" ? { kind: "mode", mode: name === "plan" ? "PLAN" : "ACT" } : { kind: "wrong", why: `/${name} takes nothing more.` };
    case "mode": {
      const mode = rest.toUpperCase() as ModeName;
      if (rest === "") return { kind: "mode" };
      return MODE_NAMES.includes(mode) ? { kind: "mode", mode } : { kind: "wrong", why: "/mode takes plan, act or bypass." };
    }
    case "rewind": {
      const found = /^(?:(\d{1,6})(?:\s+(keep|files))?)?$/.exec(rest);
      if (found === null)
        return { kind: "wrong", why: "/rewind takes a message's number, and `keep` where the files are to stay; alone it lists the messages." };
      return {
        kind: "rewind",
        ...(found[1] === undefined ? {} : { message: Number(found[1]) }),
        ...(found[2] === undefined ? {} : { keepFiles: found[2] === "keep" }),
      };
    }
    case "compact":
      return { kind: "compact", instructions: rest };
    case "model":
      if (rest === "") return { kind: "model" };
      return /^[^/\s]+\/\S+$/.test(rest) ? { kind: "model", model: rest } : { kind: "wrong", why: "/model takes a model as provider/model." };
    case "approve":
      if (rest !== "" && rest !== "revoke") return { kind: "wrong", why: "/approve lists what is granted; /approve revoke takes all of it back." };
      return { kind: "grants", revoke: rest !== "" };
    case "fork":
      return /^\d{0,15}$/.test(rest)
        ? { kind: "fork", seq: BigInt(rest || 0) }
        : { kind: "wrong", why: "/fork takes the seq of an event, or nothing for the newest." };
    default:
      return { kind: "wrong", why: `There is no /${name}; /help lists what there is. A line that begins with // is said with one slash.` };
  }
}

/** All commands, a line each. */
export function slashHelp(): string[] {
  const columns = Math.max(...SLASH_COMMANDS.map(({ name, takes }) => name.length + takes.length + 2));
  return SLASH_COMMANDS.map(({ name, takes, does }) => `/${`${name} ${takes}`.padEnd(columns)} ${does}`);
}
