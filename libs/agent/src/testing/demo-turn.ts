import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Part, Role } from "@forge/protocol/session";
import type { ToolSpecSchema } from "@forge/protocol/tool";
import type { ModelTaskSchema } from "@forge/protocol/worker";
import { createDemoProvider } from "../demo/provider.ts";
import { createModelHandlers } from "../model-handler.ts";
import { createFakeContext } from "./fake-context.ts";
import { completedOf, joined, type MessageInit, user } from "./provider-call.ts";

export type ToolInit = MessageInitShape<typeof ToolSpecSchema>;

/** What a tool answers: text, or an error as the control plane words it. */
export type ToolAnswer = string | { readonly error: string };

/** A conversation with a demo model in which tools answer as they are told. */
export interface DemoTurn {
  readonly messages: MessageInit[];
  /** All calls so far, by name and parsed arguments. */
  readonly calls: readonly (readonly [string, Record<string, unknown>])[];
  /** The texts of the last answer. */
  readonly text: string;
  /** A person says something, and the model answers until it calls no tool any more, or has answered 20 times. */
  ask(text: string): Promise<DemoTurn>;
}

const ANSWERS_MAX = 20;

function callsIn(parts: readonly Part[]): [string, string][] {
  return parts.flatMap((part) => (part.kind.case === "toolCall" ? [[part.kind.value.tool, part.kind.value.argumentsJson] as [string, string]] : []));
}

/** A conversation with a demo model. */
export function demoTurn(
  model: string,
  tools: readonly ToolInit[],
  answerOf: (tool: string, args: Record<string, unknown>, callIndex: number) => ToolAnswer,
  task: MessageInitShape<typeof ModelTaskSchema> = {},
): DemoTurn {
  const messages: MessageInit[] = [];
  const calls: [string, Record<string, unknown>][] = [];
  const [handler] = createModelHandlers({ providers: [createDemoProvider({ pieceDelayMs: 0 })] });
  let last = "";
  const answer = async (): Promise<boolean> => {
    const context = createFakeContext({ task: { model, ...task }, conversation: { messages, tools: [...tools] } });
    const outcome = await handler?.run(context);
    const message = joined(completedOf(outcome as NonNullable<typeof outcome>).parts);
    for (const part of message.parts) if (part.kind.case === "toolCall") part.kind.value.toolCallId = `c${messages.length}-${part.kind.value.providerCallId}`;
    messages.push(message);
    last = message.parts.map((part) => (part.kind.case === "text" ? part.kind.value.text : "")).join("");
    const made = callsIn(message.parts);
    if (made.length === 0) return false;
    const parts = message.parts.flatMap((part) => {
      if (part.kind.case !== "toolCall") return [];
      const { toolCallId, tool, argumentsJson } = part.kind.value;
      const args = JSON.parse(argumentsJson) as Record<string, unknown>;
      const answered = answerOf(tool, args, calls.length);
      calls.push([tool, args]);
      const isError = typeof answered !== "string";
      return [{ kind: { case: "toolResult" as const, value: { toolCallId, tool, output: isError ? answered.error : answered, isError } } }];
    });
    messages.push({ role: Role.TOOL, parts });
    return true;
  };
  const turn: DemoTurn = {
    messages,
    calls,
    get text() {
      return last;
    },
    async ask(text) {
      messages.push(user(text));
      for (let count = 0; (await answer()) && count < ANSWERS_MAX; count++);
      return turn;
    },
  };
  return turn;
}
