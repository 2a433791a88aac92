import type { JSONSchema7, LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4Message } from "@ai-sdk/provider";
import { ForgeError } from "@forge/protocol";
import type { ReadConversationResponse } from "@forge/protocol/session";
import type { ToolSpec } from "@forge/protocol/tool";
import type { ModelTask } from "@forge/protocol/worker";
import { familyOf, parseModelName } from "../model-name.ts";
import { markBreakpoints } from "./cache-breakpoints.ts";
import { DEFAULT_DIALECT, type Dialect, describeDialect } from "./dialect.ts";
import { canonicalJson, digestOf, digestOfBytes } from "./digest.ts";
import type { FileContents } from "./files.ts";
import { toPrompt } from "./prompt.ts";
import { createToolNames, type ToolNames } from "./tool-names.ts";
import { toWireSchema } from "./wire-schema.ts";

/** What a model is sent, and the digests that are recorded of it. */
export interface AssembledRequest {
  /** The family's name. */
  readonly provider: string;
  readonly modelId: string;
  readonly options: Pick<LanguageModelV4CallOptions, "prompt" | "tools" | "temperature" | "maxOutputTokens" | "responseFormat" | "reasoning">;
  readonly toolNames: ToolNames;
  /** SHA-256 over the canonical JSON of all that follows from the conversation, its files and the task; files count by their SHA-256. */
  readonly requestDigest: string;
  /** Of each message of the prompt, in order, without cache breakpoints, which move on; the system prompt, where there is one, is the first. */
  readonly messageDigests: readonly string[];
  readonly toolCatalogueDigest: string;
  /** Indexes of the messages that carry a cache breakpoint. */
  readonly cacheBreakpoints: readonly number[];
  /**
   * Canonical JSON: the model; temperature, max_output_tokens, reasoning and output_schema_digest where they are sent; the dialect where it is not the default
   * (see readDialect).
   */
  readonly parametersJson: string;
}

/** What the request depends on beside the conversation and the task. */
export interface AssembleOptions {
  /** Absent: the default. */
  readonly dialect?: Dialect;
  /** Contents of the files in the conversation; what is missing is told to the model in words. */
  readonly files?: FileContents;
}

function parseSchema(json: string, what: string): JSONSchema7 {
  try {
    return JSON.parse(json) as JSONSchema7;
  } catch (cause) {
    throw ForgeError.validation("tools", `The ${what} is not JSON.`, { origin: "worker", cause });
  }
}

function toFunctionTool(tool: ToolSpec, names: ToolNames): LanguageModelV4FunctionTool {
  return {
    type: "function",
    name: names.toWire(tool.name),
    ...(tool.description === "" ? {} : { description: tool.description }),
    inputSchema: toWireSchema(parseSchema(tool.inputSchemaJson, `input schema of tool ${tool.name}`)),
  };
}

/** The answer's schema, where the model can be told it. */
function toResponseFormat(task: ModelTask, hasTools: boolean, dialect: Dialect): LanguageModelV4CallOptions["responseFormat"] {
  const canTell = dialect.structuredOutput === "always" || (dialect.structuredOutput === "without_tools" && !hasTools);
  if (task.outputSchemaJson === "" || !canTell) return undefined;
  return { type: "json", name: "answer", schema: parseSchema(task.outputSchemaJson, "schema of the answer") };
}

/** A file counts by what it holds, however it is sent. */
function digestible(message: LanguageModelV4Message): object {
  if (message.role !== "user") return message;
  const content = message.content.map((part) =>
    part.type === "file" && part.data.type === "data" && part.data.data instanceof Uint8Array
      ? { type: part.type, mediaType: part.mediaType, sha256: digestOfBytes(part.data.data) }
      : part,
  );
  return { ...message, content };
}

/**
 * The request of one model call: a function of the conversation (its artifacts inlined, see inlineArtifacts), its files and the task alone, no clock and no chance,
 * so that what was sent can be rebuilt and compared with the recorded digest. Messages and tools keep their order, so a longer conversation
 * begins with the same bytes and a provider's prompt cache holds. Throws validation.
 */
export function assembleRequest(conversation: ReadConversationResponse, task: ModelTask, options: AssembleOptions = {}): AssembledRequest {
  const { dialect = DEFAULT_DIALECT, files = new Map() } = options;
  const { provider: name, modelId } = parseModelName(task.model);
  const provider = familyOf(name);
  const toolNames = createToolNames(conversation.tools.map((tool) => tool.name));
  const prompt = toPrompt(conversation.system, conversation.messages, { provider, modelId, toolNames, dialect, files });
  const tools = conversation.tools.map((tool) => toFunctionTool(tool, toolNames));
  const responseFormat = toResponseFormat(task, tools.length > 0, dialect);
  const marked = dialect.cacheBreakpoints ? markBreakpoints(prompt, tools) : { prompt, tools, messages: [] };
  const maxOutputTokens = task.maxOutputTokens ?? (dialect.maxOutputTokens || undefined);
  const special = describeDialect(dialect);
  const parameters = {
    model: task.model,
    ...(task.temperature === undefined ? {} : { temperature: task.temperature }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(dialect.reasoning === "" ? {} : { reasoning: dialect.reasoning }),
    ...(responseFormat ? { output_schema_digest: digestOf(responseFormat) } : {}),
    ...(special ? { dialect: special } : {}),
  };
  const messages = prompt.map(digestible);
  return {
    provider,
    modelId,
    options: {
      prompt: marked.prompt,
      ...(tools.length > 0 ? { tools: [...marked.tools] } : {}),
      ...(task.temperature === undefined ? {} : { temperature: task.temperature }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(responseFormat ? { responseFormat } : {}),
      ...(dialect.reasoning === "" ? {} : { reasoning: dialect.reasoning }),
    },
    toolNames,
    requestDigest: digestOf({ parameters, tools, prompt: messages, cache_breakpoints: marked.messages }),
    messageDigests: messages.map(digestOf),
    toolCatalogueDigest: digestOf(tools),
    cacheBreakpoints: marked.messages,
    parametersJson: canonicalJson(parameters),
  };
}
