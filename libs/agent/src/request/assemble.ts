import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { ForgeError } from "@forge/protocol";
import type { ReadConversationResponse } from "@forge/protocol/session";
import type { ToolSpec } from "@forge/protocol/tool";
import type { ModelTask } from "@forge/protocol/worker";
import { parseModelName } from "../model-name.ts";
import { canonicalJson, digestOf } from "./digest.ts";
import { toPrompt } from "./prompt.ts";
import { createToolNames, type ToolNames } from "./tool-names.ts";

/** What a model is sent, and the digests that are recorded of it. */
export interface AssembledRequest {
  readonly provider: string;
  readonly modelId: string;
  readonly options: Pick<LanguageModelV4CallOptions, "prompt" | "tools" | "temperature" | "maxOutputTokens">;
  readonly toolNames: ToolNames;
  /** SHA-256 over the canonical JSON of all that follows from the conversation and the task. */
  readonly requestDigest: string;
  /** Of each message of the prompt, in order; the system prompt, where there is one, is the first. */
  readonly messageDigests: readonly string[];
  readonly toolCatalogueDigest: string;
  /** Canonical JSON: the model, and temperature and max_output_tokens where they are set. */
  readonly parametersJson: string;
}

function toFunctionTool(tool: ToolSpec, names: ToolNames): LanguageModelV4FunctionTool {
  let schema: unknown;
  try {
    schema = JSON.parse(tool.inputSchemaJson);
  } catch (cause) {
    throw ForgeError.validation("tools", `The input schema of tool ${tool.name} is not JSON.`, { origin: "worker", cause });
  }
  return {
    type: "function",
    name: names.toWire(tool.name),
    ...(tool.description === "" ? {} : { description: tool.description }),
    inputSchema: schema as LanguageModelV4FunctionTool["inputSchema"],
  };
}

/**
 * The request of one model call: a function of the conversation (its artifacts inlined, see inlineArtifacts) and the task alone, no clock and no chance,
 * so that what was sent can be rebuilt and compared with the recorded digest. Messages and tools keep their order, so a longer conversation
 * begins with the same bytes and a provider's prompt cache holds. Throws validation.
 */
export function assembleRequest(conversation: ReadConversationResponse, task: ModelTask): AssembledRequest {
  const { provider, modelId } = parseModelName(task.model);
  const toolNames = createToolNames(conversation.tools.map((tool) => tool.name));
  const prompt = toPrompt(conversation.system, conversation.messages, { provider, modelId, toolNames });
  const tools = conversation.tools.map((tool) => toFunctionTool(tool, toolNames));
  const parameters = {
    model: task.model,
    ...(task.temperature === undefined ? {} : { temperature: task.temperature }),
    ...(task.maxOutputTokens === undefined ? {} : { max_output_tokens: task.maxOutputTokens }),
  };
  return {
    provider,
    modelId,
    options: {
      prompt,
      ...(tools.length > 0 ? { tools } : {}),
      ...(task.temperature === undefined ? {} : { temperature: task.temperature }),
      ...(task.maxOutputTokens === undefined ? {} : { maxOutputTokens: task.maxOutputTokens }),
    },
    toolNames,
    requestDigest: digestOf({ parameters, tools, prompt }),
    messageDigests: prompt.map(digestOf),
    toolCatalogueDigest: digestOf(tools),
    parametersJson: canonicalJson(parameters),
  };
}
