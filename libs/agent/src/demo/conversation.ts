import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";

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

/** A call with what came of it; the result is absent where the conversation has none. */
export interface DemoCall {
  /** As people write it. */
  readonly tool: string;
  /** The arguments, JSON text. */
  readonly input: string;
  readonly result: DemoToolResult | undefined;
}

/** What a person asked for last, and what was done about it. */
export interface DemoRequest {
  /** Empty where nobody asked for anything. */
  readonly text: string;
  readonly calls: readonly DemoCall[];
  /** Answers since then. */
  readonly answerCount: number;
}

/** A prompt as the demo models look at it. */
export interface DemoConversation {
  /** The system prompt; empty where there is none. */
  readonly system: string;
  readonly userTexts: readonly string[];
  /** The user's last words; empty where there are none. */
  readonly lastUserText: string;
  /** What tools answered since then. */
  readonly results: readonly DemoToolResult[];
  /** Not what a hook or the control plane says in a user's place. */
  readonly request: DemoRequest;
  /** Of the whole conversation. */
  readonly calls: readonly DemoCall[];
  readonly tools: readonly DemoTool[];
  /** What the answer must match, where it must. */
  readonly answerSchema: Extract<LanguageModelV4CallOptions["responseFormat"], { type: "json" }>["schema"];
  /** Bytes of everything that the model reads. */
  readonly inputBytes: number;
}

/** How messages begin that are a user's by their role alone. */
const NOT_A_PERSONS =
  /^(?:\[A (?:summary of the conversation|late report)|<system-message>|Several tool calls in a row have failed|You have tools, and your answer used none)/;

function dotted(wireName: string): string {
  return wireName.replaceAll("__", ".");
}

function resultText(part: LanguageModelV4ToolResultPart): DemoToolResult {
  const { output } = part;
  const text = output.type === "text" || output.type === "error-text" ? output.value : JSON.stringify("value" in output ? output.value : output.reason);
  return { tool: dotted(part.toolName), output: text, isError: output.type.startsWith("error") || output.type === "execution-denied" };
}

function resultPartsOf(message: LanguageModelV4Message): LanguageModelV4ToolResultPart[] {
  return message.role === "tool" ? message.content.filter((part) => part.type === "tool-result") : [];
}

function textOfUser(message: LanguageModelV4Message): string {
  return message.role === "user" ? message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n") : "";
}

function callsOf(messages: LanguageModelV4Prompt): DemoCall[] {
  const results = new Map(messages.flatMap(resultPartsOf).map((part) => [part.toolCallId, resultText(part)]));
  return messages.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) =>
          part.type === "tool-call" ? [{ tool: dotted(part.toolName), input: String(part.input), result: results.get(part.toolCallId) }] : [],
        )
      : [],
  );
}

function requestOf(prompt: LanguageModelV4Prompt): DemoRequest {
  const index = prompt.findLastIndex((message) => message.role === "user" && !NOT_A_PERSONS.test(textOfUser(message)));
  const asked = prompt[index];
  const after = prompt.slice(index + 1);
  const answers = after.filter((message) => message.role === "assistant");
  return asked ? { text: textOfUser(asked), calls: callsOf(after), answerCount: answers.length } : { text: "", calls: [], answerCount: 0 };
}

/** Looks at what the model was sent. */
export function readPrompt({ prompt, tools = [], responseFormat }: LanguageModelV4CallOptions): DemoConversation {
  const userTexts = prompt.filter((message) => message.role === "user").map(textOfUser);
  const lastUser = prompt.findLastIndex((message) => message.role === "user");
  const [first] = prompt;
  return {
    system: first?.role === "system" ? first.content : "",
    userTexts,
    lastUserText: userTexts.at(-1) ?? "",
    results: prompt
      .slice(lastUser + 1)
      .flatMap(resultPartsOf)
      .map(resultText),
    request: requestOf(prompt),
    calls: callsOf(prompt),
    tools: tools.filter((tool) => tool.type === "function").map((tool) => ({ wireName: tool.name, name: dotted(tool.name), inputSchema: tool.inputSchema })),
    answerSchema: responseFormat?.type === "json" ? responseFormat.schema : undefined,
    inputBytes: Buffer.byteLength(JSON.stringify(prompt)) + Buffer.byteLength(JSON.stringify(tools)),
  };
}

/** The first tool whose name ends in the given word. */
export function findTool(conversation: DemoConversation, ending: string): DemoTool | undefined {
  return conversation.tools.find((tool) => tool.name === ending || tool.name.endsWith(`.${ending}`) || tool.name.endsWith(ending));
}

/** The tool of exactly this name. */
export function toolNamed(conversation: DemoConversation, name: string): DemoTool | undefined {
  return conversation.tools.find((tool) => tool.name === name);
}
