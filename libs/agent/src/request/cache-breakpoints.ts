import type { LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";

/** Anthropic takes four in one request; the first covers tools and system prompt. */
const BREAKPOINTS_MAX = 4;

/** Anthropic looks for an earlier request's cache up to 20 blocks before a breakpoint, so that at this distance none lies between two. */
const BLOCKS_BETWEEN = 15;

const CACHE_CONTROL: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** A request with its breakpoints. */
export interface Marked {
  readonly prompt: LanguageModelV4Prompt;
  readonly tools: readonly LanguageModelV4FunctionTool[];
  /** Indexes of the messages that carry one. */
  readonly messages: readonly number[];
}

interface Block {
  readonly message: number;
  readonly part: number;
  /** Thoughts can't carry one, nor can text without characters. */
  readonly isMarkable: boolean;
}

function blocksOf(prompt: LanguageModelV4Prompt): Block[] {
  return prompt.flatMap((message, index) =>
    message.role === "system"
      ? []
      : message.content.map((part, position) => ({
          message: index,
          part: position,
          isMarkable: part.type !== "reasoning" && !(part.type === "text" && part.text === ""),
        })),
  );
}

function withCacheControl<T extends { providerOptions?: SharedV4ProviderOptions }>(holder: T): T {
  const { anthropic } = holder.providerOptions ?? {};
  return { ...holder, providerOptions: { ...holder.providerOptions, anthropic: { ...anthropic, ...CACHE_CONTROL.anthropic } } };
}

function markPart(message: LanguageModelV4Message, part: number): LanguageModelV4Message {
  if (message.role === "system") return withCacheControl(message);
  return { ...message, content: message.content.map((each, index) => (index === part ? withCacheControl(each) : each)) } as LanguageModelV4Message;
}

/** The end, and every 15 blocks before it, as many as are left. */
function rollingBlocks(blocks: readonly Block[], count: number): Block[] {
  const chosen: Block[] = [];
  for (let at = blocks.length - 1; at >= 0 && chosen.length < count; at -= BLOCKS_BETWEEN) {
    const block = blocks.slice(Math.max(0, at - BLOCKS_BETWEEN + 1), at + 1).findLast(({ isMarkable }) => isMarkable);
    if (block) chosen.push(block);
  }
  return chosen;
}

/**
 * Tells the provider how far its cache of this request may reach: one breakpoint after tools and system prompt, the others rolling with the conversation's end.
 * All that comes before a breakpoint is the same in the next request, so that it is read from the cache.
 */
export function markBreakpoints(prompt: LanguageModelV4Prompt, tools: readonly LanguageModelV4FunctionTool[]): Marked {
  const firstOther = prompt.findIndex((message) => message.role !== "system");
  const lastSystem = (firstOther === -1 ? prompt.length : firstOther) - 1;
  const lastTool = lastSystem < 0 ? tools.length - 1 : -1;
  const rolling = rollingBlocks(blocksOf(prompt), BREAKPOINTS_MAX - 1);
  const marked = [...prompt];
  if (lastSystem >= 0) marked[lastSystem] = withCacheControl(marked[lastSystem] as LanguageModelV4Message);
  for (const { message, part } of rolling) marked[message] = markPart(marked[message] as LanguageModelV4Message, part);
  return {
    prompt: marked,
    tools: tools.map((tool, index) => (index === lastTool ? withCacheControl(tool) : tool)),
    messages: [...new Set([...(lastSystem >= 0 ? [lastSystem] : []), ...rolling.map(({ message }) => message)])].sort((a, b) => a - b),
  };
}
