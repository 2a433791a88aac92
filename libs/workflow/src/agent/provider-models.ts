import { unknownName } from "../yaml/problems.ts";

/** What a project says of a provider's models; absent: nothing. */
interface ProviderModels {
  readonly models?: Readonly<Record<string, { readonly temperature?: number; readonly max_tokens?: number }>>;
}

/** By the provider's name. */
export type Providers = Readonly<Record<string, ProviderModels>>;

/** Parameters of a model's calls where its agent gives none. */
export function parametersOf(providers: Providers, model: string): { readonly temperature?: number; readonly maxOutputTokens?: number } {
  const [models, name] = modelsOf(providers, model);
  if (models === undefined || !Object.hasOwn(models, name)) return {};
  const { temperature, max_tokens: maxOutputTokens } = models[name] ?? {};
  return { ...(temperature === undefined ? {} : { temperature }), ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) };
}

/** What to say of a model that is none of those which the project lists of its provider, with the nearest; undefined where there is nothing to say. */
export function unknownModel(providers: Providers, model: string): string | undefined {
  const [models, name] = modelsOf(providers, model);
  const known = Object.keys(models ?? {});
  if (known.length === 0 || known.includes(name)) return undefined;
  const provider = model.slice(0, model.indexOf("/"));
  return `${unknownName(`model of ${provider}`, name, known)} (llm.providers.${provider}.models in runtime.yaml)`;
}

function modelsOf(providers: Providers, model: string): readonly [models: ProviderModels["models"], name: string] {
  const at = model.indexOf("/");
  const provider = model.slice(0, at);
  return [Object.hasOwn(providers, provider) ? providers[provider]?.models : undefined, model.slice(at + 1)];
}
