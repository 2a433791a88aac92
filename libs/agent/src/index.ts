// For whoever serves models.
export type { CircuitChange, CircuitState } from "./breaker/circuit-breaker.ts";
export { createModelHandlers, type ModelHandlerOptions } from "./model-handler.ts";
export type { ModelFacts, ModelPrice, ModelTable, PriceTable } from "./models/model-table.ts";
export type { CredentialRequest, ModelCall, ModelProvider } from "./provider.ts";
export type { CredentialCheck, CredentialCheckOptions, CredentialResult } from "./providers/credential-check.ts";
export { createScrubber } from "./providers/scrub.ts";
export { createProviderRegistry, type ProviderConfig, type ProviderRegistry, type ProviderRegistryOptions, type ProviderStatus } from "./registry.ts";
// For whoever rebuilds what a model was sent.
export { type AssembledRequest, type AssembleOptions, assembleRequest } from "./request/assemble.ts";
export { type Dialect, readDialect } from "./request/dialect.ts";
export { type FileContents, loadFiles } from "./request/files.ts";
export { inlineArtifacts } from "./request/inline-artifacts.ts";
