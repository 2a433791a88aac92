import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { CapabilityKind, CapabilitySchema } from "@forge/protocol/worker";
import type { TaskHandler } from "@forge/worker";
import { performModelCall } from "./model-call.ts";
import { LISTED_PRICES, type PriceTable, priceOf } from "./prices.ts";
import type { ModelProvider } from "./provider.ts";
import { ConversationCache } from "./request/conversation-cache.ts";

export interface ModelHandlerOptions {
  readonly providers: readonly ModelProvider[];
  /** Prices that hold before the listed ones. */
  readonly prices?: PriceTable;
  /** The clock that a provider's Retry-After date is compared with, in milliseconds since 1970; absent: the system's. */
  readonly nowMs?: () => number;
}

function createModelHandler(provider: ModelProvider, options: ModelHandlerOptions, conversations: ConversationCache): TaskHandler {
  const { prices = {}, nowMs = Date.now } = options;
  return {
    capability: create(CapabilitySchema, { kind: CapabilityKind.MODEL, name: `${provider.name}/*` }),
    async run(context) {
      const { kind } = context.task;
      if (kind.case !== "model")
        throw new ForgeError(ErrorCode.INTERNAL, `A ${kind.case ?? "blank"} task came to the models of ${provider.name}.`, { origin: "worker" });
      const price = priceOf(kind.value.model, prices) ?? (provider.listPrices ? priceOf(kind.value.model, LISTED_PRICES) : undefined);
      return performModelCall(context, kind.value, { provider, price, conversations, nowMs });
    },
  };
}

/** One handler per provider, for any of its models. */
export function createModelHandlers(options: ModelHandlerOptions): TaskHandler[] {
  const conversations = new ConversationCache();
  return options.providers.map((provider) => createModelHandler(provider, options, conversations));
}
