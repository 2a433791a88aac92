import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";
import type { DemoConversation } from "./conversation.ts";
import type { DemoModel, DemoStep } from "./script.ts";

/** Of one answer, so that a script can't fill the memory. */
const STEPS_MAX = 1_000;

const REASONS: ReadonlySet<string> = new Set<LanguageModelV4FinishReason["unified"]>(["stop", "length", "content-filter", "tool-calls", "error", "other"]);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The answers in a message: a JSON list of lists of steps, the message as a whole or what stands between its first `[[` and last `]]`. */
function readScript(text: string): unknown[][] | undefined {
  const from = text.indexOf("[[");
  const to = text.lastIndexOf("]]");
  if (from === -1 || to < from) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(from, to + 2));
    return Array.isArray(value) && value.every(Array.isArray) ? value : undefined;
  } catch {
    // A message that only looks like a script.
    return undefined;
  }
}

/** The tool as the model was given it, or the name as it is where it was not. */
function wireNameOf(name: string, conversation: DemoConversation): string {
  return conversation.tools.find((tool) => tool.name === name || tool.wireName === name)?.wireName ?? name;
}

function callSteps(step: Record<string, unknown>, conversation: DemoConversation): DemoStep[] {
  const input = typeof step.arguments === "string" ? step.arguments : JSON.stringify(step.arguments ?? {});
  const one: DemoStep = {
    kind: "call",
    tool: wireNameOf(String(step.call), conversation),
    input,
    ...(typeof step.id === "string" ? { id: step.id } : {}),
  };
  return Array.from({ length: Math.min(Number(step.times ?? 1), STEPS_MAX) }, () => one);
}

function toSteps(step: unknown, conversation: DemoConversation): DemoStep[] {
  if (isRecord(step)) {
    if (typeof step.text === "string") return [{ kind: "text", text: step.text, pace: 0 }];
    if (typeof step.reasoning === "string") return [{ kind: "reasoning", text: step.reasoning, pace: 0 }];
    if (typeof step.call === "string") return callSteps(step, conversation);
    if (typeof step.finish === "string" && REASONS.has(step.finish)) return [{ kind: "finish", reason: step.finish as LanguageModelV4FinishReason["unified"] }];
    if (typeof step.fail === "number") {
      const retryAfterMs = typeof step.retry_after_ms === "number" ? step.retry_after_ms : undefined;
      return [
        {
          kind: "fail",
          status: step.fail,
          message: typeof step.message === "string" ? step.message : "The script says that it fails.",
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        },
      ];
    }
  }
  return [{ kind: "text", text: `[no step that the script model knows: ${JSON.stringify(step)}]`, pace: 0 }];
}

/**
 * Does what the person's last message says, step by step, for tests of what surrounds a model: the message holds a JSON list of answers, each a list of steps
 * `{"text"}`, `{"reasoning"}`, `{"call", "arguments", "id", "times"}` (arguments: an object, or a string as it is), `{"finish"}` and
 * `{"fail", "message", "retry_after_ms"}`.
 */
export const scripted: DemoModel = (conversation) => {
  const { text, answerCount } = conversation.request;
  const answers = readScript(text);
  if (!answers)
    return [{ kind: "text", text: 'There is no script in the message. Write for example [[{"call":"tools.search","arguments":{}}],[{"text":"done"}]].' }];
  const answer = answers[answerCount];
  return answer ? answer.flatMap((step) => toSteps(step, conversation)).slice(0, STEPS_MAX) : [{ kind: "text", text: "The script is over.", pace: 0 }];
};
