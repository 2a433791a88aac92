import { argumentsFor } from "./arguments.ts";
import { type DemoConversation, type DemoTool, type DemoToolResult, findTool } from "./conversation.ts";
import { instanceOf } from "./instance.ts";
import type { DemoModel, DemoStep } from "./script.ts";
import { isTour, review, tour } from "./tour.ts";

const COUNT_MAX = 10_000;

/** Times the usual delay: slow enough that a person can stop it. */
const COUNT_PACE = 25;

const QUOTE_CHARACTERS_MAX = 2_000;

const ABOUT =
  "I am the demo model: I answer by rules, without a key and without a network. Forge keeps every step of this session as an event in PostgreSQL, so that you can stop, " +
  'come back and see exactly what happened. Try "run ls", "search <word>", "read <file>", "count to 20" or "think about something"; ' +
  "where I may change files, ask for a change and I show you around.";

function say(text: string): DemoStep[] {
  return [{ kind: "text", text }];
}

function describe({ tool, output, isError }: DemoToolResult): string {
  const text = output.length > QUOTE_CHARACTERS_MAX ? `${output.slice(0, QUOTE_CHARACTERS_MAX).toWellFormed()}...` : output;
  return isError ? `${tool} did not do it: ${text}` : `${tool} answered:\n\n${text}`;
}

function call(conversation: DemoConversation, tool: DemoTool | undefined, wanted: string, input: (tool: DemoTool) => string): DemoStep[] {
  if (tool)
    return [
      { kind: "text", text: `I call ${tool.name}.` },
      { kind: "call", tool: tool.wireName, input: input(tool) },
    ];
  const names = conversation.tools.map((candidate) => candidate.name).join(", ");
  return say(`I have no tool named "${wanted}" in this session.${names ? ` I have: ${names}.` : " I have none."}`);
}

function callNamed(conversation: DemoConversation, ending: string, value: string, verb = ""): DemoStep[] {
  return call(conversation, findTool(conversation, ending), ending, (tool) => argumentsFor(tool, value, verb));
}

function count(to: number): DemoStep[] {
  const last = Math.min(to, COUNT_MAX);
  return [{ kind: "text", text: Array.from({ length: last }, (_, index) => `${index + 1}`).join(" "), pace: COUNT_PACE }];
}

function think(about: string): DemoStep[] {
  const subject = about.trim() || "nothing in particular";
  return [
    { kind: "reasoning", text: `I was asked to think ${subject}. I have rules and no thoughts, so I write down that I was asked.` },
    { kind: "text", text: `I have thought ${subject}, as far as rules can.` },
  ];
}

type Phrase = readonly [pattern: RegExp, reply: (conversation: DemoConversation, match: readonly string[]) => DemoStep[]];

const PHRASES: readonly Phrase[] = [
  [
    /^use (?:the )?(\S+) tool(?: with (\S[\s\S]*))?$/iu,
    (conversation, [, name = "", input]) => call(conversation, findTool(conversation, name), name, () => input?.trim() ?? "{}"),
  ],
  [/^run (\S[\s\S]*)$/iu, (conversation, [, command = ""]) => callNamed(conversation, "shell", command)],
  [/^read (\S[\s\S]*)$/iu, (conversation, [, path = ""]) => callNamed(conversation, findTool(conversation, "read_file") ? "read_file" : "file", path, "read")],
  [/^search (?:for )?(\S[\s\S]*)$/iu, (conversation, [, word = ""]) => callNamed(conversation, "search", word)],
  [/^count to (\d{1,6})\b/iu, (_, [, to = "0"]) => count(Number(to))],
  [/^think\b([\s\S]*)$/iu, (_, [, about = ""]) => think(about)],
  [
    /^(?:please )?undo\b/iu,
    () =>
      say("Taking changes back is yours: type /undo, and what my tools changed is as it was, unless somebody has changed it since. The conversation stays."),
  ],
  [/^(?:hello|hi|hey|help|what (?:is|can)|who are)\b/iu, () => say(ABOUT)],
];

const REVIEW = /^(?:please )?review\b/iu;

function reply(conversation: DemoConversation): DemoStep[] {
  const { request } = conversation;
  const text = request.text.trim();
  if (REVIEW.test(text)) return review(conversation);
  const [pattern, answer] = PHRASES.find(([candidate]) => candidate.test(text)) ?? [];
  if (!pattern && isTour(conversation)) return tour(conversation);
  const results = request.calls.flatMap(({ result }) => result ?? []);
  if (results.length > 0) return say(results.map(describe).join("\n\n"));
  const match = pattern?.exec(text);
  if (answer && match) return answer(conversation, [...match]);
  const seen = conversation.userTexts.length;
  const quote = text.length > QUOTE_CHARACTERS_MAX ? `${text.slice(0, QUOTE_CHARACTERS_MAX).toWellFormed()}...` : text;
  return say(`I have seen ${seen} ${seen === 1 ? "message" : "messages"} of yours. The last one was: ${quote}`);
}

/** An answer in words as the answer's schema wants it. */
function asSchema(steps: readonly DemoStep[], { answerSchema }: DemoConversation): readonly DemoStep[] {
  if (!answerSchema || steps.some((step) => step.kind === "call")) return steps;
  const said = steps.map((step) => (step.kind === "text" ? step.text : "")).join("");
  return say(JSON.stringify(instanceOf(answerSchema, said)));
}

/**
 * A friendly answer by rules. It names how many messages it has seen, so that it shows what of the conversation reached it; asked for a change where it can
 * make one, it gives a tour.
 */
export const chat: DemoModel = (conversation) => asSchema(reply(conversation), conversation);
