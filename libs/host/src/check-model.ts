import { createProviderRegistry, type ProviderRegistryOptions } from "@forge/agent";

/** Whether an executor with this environment could serve a model, as far as is known without asking its provider. Errors: validation or not_found, saying what to do. */
export function checkModel(model: string, options: ProviderRegistryOptions): void {
  createProviderRegistry(options).checkModel(model);
}
