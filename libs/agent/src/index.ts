// For whoever serves models.
export { createModelHandlers, type ModelHandlerOptions } from "./model-handler.ts";
export type { ModelPrice, PriceTable } from "./prices.ts";
export type { ModelCall, ModelProvider } from "./provider.ts";
export { createScrubber } from "./providers/scrub.ts";
export { createProviderRegistry, type ProviderConfig, type ProviderRegistry, type ProviderRegistryOptions, type ProviderStatus } from "./registry.ts";
// For whoever rebuilds what a model was sent.
export { type AssembledRequest, assembleRequest } from "./request/assemble.ts";
export { inlineArtifacts } from "./request/inline-artifacts.ts";
