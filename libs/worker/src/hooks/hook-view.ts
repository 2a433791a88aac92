import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { HookAt, type Message, ReadConversationRequestSchema, Role } from "@forge/protocol/session";
import type { TaskContext } from "../handler.ts";

/** Where a hook is called, by the names that people write. */
export const HOOK_POINTS = {
  on_user_message: HookAt.USER_MESSAGE,
  on_pre_llm: HookAt.PRE_LLM,
  on_post_llm: HookAt.POST_LLM,
} as const;

/** on_user_message, on_pre_llm or on_post_llm. */
export type HookPoint = keyof typeof HOOK_POINTS;

/** A call in a message. */
export interface HookToolCall {
  readonly toolCallId: string;
  readonly tool: string;
  /** As the model wrote it. */
  readonly argumentsJson: string;
}

/** A message as a hook sees it. */
export interface HookMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  /** Its texts, and of a tool's message what the model was told. */
  readonly text: string;
  readonly calls: readonly HookToolCall[];
}

/** What a hook is told when it is called. */
export interface HookView {
  readonly hook: string;
  readonly at: HookPoint;
  readonly sessionId: string;
  readonly turnId: string;
  /** The agent's settings for the hook, an object. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The conversation up to here, the newest 1,000. At on_user_message the last one is what the person said, at on_post_llm the model's answer. */
  readonly messages: readonly HookMessage[];
}

const MESSAGES_MAX = 1000;
const ROLES: Readonly<Record<number, HookMessage["role"]>> = {
  [Role.SYSTEM]: "system",
  [Role.USER]: "user",
  [Role.ASSISTANT]: "assistant",
  [Role.TOOL]: "tool",
};

/** What the hook of a task is told, the conversation read. Errors: validation where the task is no hook's. */
export async function readHookView(context: TaskContext): Promise<HookView> {
  const { kind } = context.task;
  if (kind.case !== "hook") throw ForgeError.validation("task", `a hook was given a task of kind ${kind.case ?? "unknown"}`, { origin: "worker" });
  const { hook, at, sessionId, turnId, configJson, conversationThroughSeq } = kind.value;
  const point = pointOf(at);
  if (point === undefined) throw ForgeError.validation("at", `the hook ${hook} is called at a point that is not known here: ${at}`, { origin: "worker" });
  const request = create(ReadConversationRequestSchema, { sessionId, turnId, throughSeq: conversationThroughSeq });
  const { messages } = await context.readConversation(request);
  return { hook, at: point, sessionId, turnId, config: configOf(configJson), messages: messages.slice(-MESSAGES_MAX).map(messageOf) };
}

function pointOf(at: HookAt): HookPoint | undefined {
  return (Object.keys(HOOK_POINTS) as HookPoint[]).find((name) => HOOK_POINTS[name] === at);
}

function configOf(json: string): HookView["config"] {
  return json === "" ? {} : (JSON.parse(json) as Record<string, unknown>);
}

function messageOf({ role, parts }: Message): HookMessage {
  const texts = parts.map(({ kind }) => (kind.case === "text" ? kind.value.text : kind.case === "toolResult" ? kind.value.output : ""));
  const calls = parts.flatMap(({ kind }) =>
    kind.case === "toolCall" ? [{ toolCallId: kind.value.toolCallId, tool: kind.value.tool, argumentsJson: kind.value.argumentsJson }] : [],
  );
  return { role: ROLES[role] ?? "user", text: texts.join(""), calls };
}
