import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";

export interface DemoTool {
  /** As the model was given it. */
  readonly wireName: string;
  /** As people write it: `tools__search` is `tools.search`. */
  readonly name: string;
  readonly inputSchema: LanguageModelV4FunctionTool["inputSchema"];
}

export interface DemoToolResult {
  /** As people write it. */
  readonly tool: string;
  readonly output: string;
  readonly isError: boolean;
}

/** A prompt as the demo models look at it. */
export interface DemoConversation {
  readonly userTexts: readonly string[];
  /** The user's last words; empty where there are none. */
  readonly lastUserText: string;
  /** What tools answered since then. */
  readonly results: readonly DemoToolResult[];
  /** Calls in the whole conversation. */
  readonly callCount: number;
  readonly tools: readonly DemoTool[];
  /** Bytes of everything that the model reads. */
  readonly inputBytes: number;
}

function dotted(wireName: string): string {
  return wireName.replaceAll("__", ".");
}

function resultText(part: LanguageModelV4ToolResultPart): DemoToolResult {
  const { output } = part;
  const text = output.type === "text" || output.type === "error-text" ? output.value : JSON.stringify("value" in output ? output.value : output.reason);
  return { tool: dotted(part.toolName), output: text, isError: output.type.startsWith("error") || output.type === "execution-denied" };
}

function resultsOf(message: LanguageModelV4Message): DemoToolResult[] {
  return message.role === "tool" ? message.content.filter((part) => part.type === "tool-result").map(resultText) : [];
}

function textOfUser(message: LanguageModelV4Message): string {
  return message.role === "user" ? message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n") : "";
}

/** Looks at what the model was sent. */
export function readPrompt({ prompt, tools = [] }: LanguageModelV4CallOptions): DemoConversation {
  const userTexts = prompt.filter((message) => message.role === "user").map(textOfUser);
  const lastUser = prompt.findLastIndex((message) => message.role === "user");
  const calls = prompt.flatMap((message) => (message.role === "assistant" ? message.content.filter((part) => part.type === "tool-call") : []));
  return {
    userTexts,
    lastUserText: userTexts.at(-1) ?? "",
    results: prompt.slice(lastUser + 1).flatMap(resultsOf),
    callCount: calls.length,
    tools: tools.filter((tool) => tool.type === "function").map((tool) => ({ wireName: tool.name, name: dotted(tool.name), inputSchema: tool.inputSchema })),
    inputBytes: Buffer.byteLength(JSON.stringify(prompt)) + Buffer.byteLength(JSON.stringify(tools)),
  };
}

/** The first tool whose name ends in the given word. */
export function findTool(conversation: DemoConversation, ending: string): DemoTool | undefined {
  return conversation.tools.find((tool) => tool.name === ending || tool.name.endsWith(`.${ending}`) || tool.name.endsWith(ending));
}
