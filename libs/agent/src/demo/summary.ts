import { SUMMARY_INSTRUCTIONS_START } from "../compaction/instructions.ts";
import type { DemoConversation } from "./conversation.ts";
import type { DemoStep } from "./script.ts";

const QUOTE_CHARACTERS_MAX = 300;
const NAMES_MAX = 20;

/** Whether a summary is asked for: every demo model writes one then, whatever else it does. */
export function isSummaryRequest(conversation: DemoConversation): boolean {
  return conversation.system.startsWith(SUMMARY_INSTRUCTIONS_START);
}

function quote(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > QUOTE_CHARACTERS_MAX ? `${line.slice(0, QUOTE_CHARACTERS_MAX).toWellFormed()}...` : line;
}

function distinct(text: string, pattern: RegExp): string {
  const found = new Set(Array.from(text.matchAll(pattern), (match) => match[1] as string));
  return found.size === 0 ? "none" : [...found].slice(0, NAMES_MAX).join(", ");
}

/** A summary by rules: the same for the same transcript. */
export function summary({ lastUserText: transcript, system }: DemoConversation): readonly DemoStep[] {
  const said = Array.from(transcript.matchAll(/^User: (.*)$/gmu), (match) => match[1] as string);
  const wish = /also wants this: (.*)/u.exec(system)?.[1];
  const lines = [
    `Goal: ${quote(said[0] ?? transcript)}`,
    `Files: ${distinct(transcript, /"path"\s*:\s*"([^"\\]+)"/gu)}`,
    `State: tools called: ${distinct(transcript, /^Call of (\S+) with/gmu)}`,
    `Open: ${quote(said.at(-1) ?? "nothing known")}`,
    ...(wish ? [`Asked for: ${quote(wish)}`] : []),
  ];
  return [{ kind: "text", text: lines.join("\n"), pace: 0 }];
}
