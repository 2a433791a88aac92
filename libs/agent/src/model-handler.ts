import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { CapabilityKind, CapabilitySchema } from "@forge/protocol/worker";
import type { TaskHandler } from "@forge/worker";
import { CircuitBreaker, type CircuitChange } from "./breaker/circuit-breaker.ts";
import { summarise } from "./compaction/summarise.ts";
import { performModelCall } from "./model-call.ts";
import { listedName } from "./models/listed-name.ts";
import { entryOf, factsOf, LISTED_MODELS, type ModelFacts, type ModelTable, type PriceTable } from "./models/model-table.ts";
import type { ModelProvider } from "./provider.ts";
import { ArtifactCache } from "./request/artifact-cache.ts";
import { ConversationCache } from "./request/conversation-cache.ts";

export interface ModelHandlerOptions {
  readonly providers: readonly ModelProvider[];
  /** What is known of models, before the table that comes with Forge. */
  readonly models?: ModelTable;
  /** Prices that hold before all others. */
  readonly prices?: PriceTable;
  /** Told when a provider is found out of order, and when it is back. */
  readonly onCircuitChange?: (change: CircuitChange) => void;
  /** The clock that a provider's Retry-After date is compared with, in milliseconds since 1970; absent: the system's. */
  readonly nowMs?: () => number;
  /** Silence of a provider after which a call is given up, in milliseconds; absent: 10 minutes. */
  readonly stallMs?: number;
}

/** What is known of a model of this provider. */
function knownOf(model: string, provider: ModelProvider, { models = {}, prices = {} }: ModelHandlerOptions): ModelFacts {
  // A model is the same wherever it is served, its price is not.
  const { price: listedPrice, ...listed } = factsOf(listedName(model), [LISTED_MODELS]);
  const price = entryOf(model, prices);
  return {
    ...listed,
    ...(provider.listPrices && listedPrice ? { price: listedPrice } : {}),
    ...factsOf(listedName(model), [models]),
    ...factsOf(model, [models]),
    ...(price ? { price } : {}),
  };
}

/** What the models of all providers share. */
interface SharedCaches {
  readonly conversations: ConversationCache;
  readonly artifacts: ArtifactCache;
}

function createModelHandler(provider: ModelProvider, options: ModelHandlerOptions, caches: SharedCaches): TaskHandler {
  const { nowMs = Date.now, onCircuitChange, stallMs } = options;
  // What runs in this process can't be out of reach: each call has a circuit of its own.
  const newBreaker = () => new CircuitBreaker({ provider: provider.name, nowMs: () => performance.now(), onChange: onCircuitChange });
  const shared = newBreaker();
  return {
    capability: create(CapabilitySchema, { kind: CapabilityKind.MODEL, name: `${provider.name}/*` }),
    async run(context) {
      const { kind } = context.task;
      const breaker = provider.inProcess ? newBreaker() : shared;
      switch (kind.case) {
        case "model":
          return performModelCall(context, kind.value, {
            provider,
            facts: knownOf(kind.value.model, provider, options),
            ...caches,
            breaker,
            nowMs,
            stallMs,
          });
        case "compaction":
          return summarise(context, kind.value, { provider, facts: knownOf(kind.value.model, provider, options), breaker, nowMs, stallMs });
        default:
          throw new ForgeError(ErrorCode.INTERNAL, `A ${kind.case ?? "blank"} task came to the models of ${provider.name}.`, { origin: "worker" });
      }
    },
  };
}

/** One handler per provider, for any of its models: their calls, and summaries that they are to write. */
export function createModelHandlers(options: ModelHandlerOptions): TaskHandler[] {
  const caches: SharedCaches = { conversations: new ConversationCache(), artifacts: new ArtifactCache() };
  return options.providers.map((provider) => createModelHandler(provider, options, caches));
}
