import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { createDemoProvider } from "./demo/provider.ts";
import { parseModelName } from "./model-name.ts";
import type { ModelProvider } from "./provider.ts";
import { createCompatibleProvider } from "./providers/compatible.ts";

const OPENAI_BASE_URL = "https://api.openai.com/v1";
const OLLAMA_BASE_URL = "http://127.0.0.1:11434/v1";

/** What may be set beside the environment; keys never are. */
export interface ProviderConfig {
  readonly openai?: { readonly baseUrl?: string };
  readonly ollama?: { readonly baseUrl?: string };
  /** Between two pieces of the demo models' answers, in milliseconds; absent: 4. */
  readonly demo?: { readonly pieceDelayMs?: number };
}

export interface ProviderRegistryOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly config?: ProviderConfig;
}

/** Whether a provider can be used, and what to do where it can't. */
export interface ProviderStatus {
  readonly name: string;
  readonly isAvailable: boolean;
  /** For example "set OPENAI_API_KEY"; empty where it is available. */
  readonly problem: string;
}

export interface ProviderRegistry {
  /** Those that can be used. */
  readonly providers: readonly ModelProvider[];
  /** Every provider that Forge knows. */
  check(): readonly ProviderStatus[];
  /** Throws where the model can't be served as far as is known without asking its provider: validation or not_found, saying what to do. */
  checkModel(model: string): void;
}

type Candidate = ModelProvider | { readonly name: string; readonly problem: string };

/** Why a base URL can't be used, or undefined. */
function problemWithUrl(url: string, variable: string): string | undefined {
  if (!URL.canParse(url)) return `${variable} is no URL`;
  const { protocol, username, password } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return `${variable} must begin with http:// or https://`;
  if (username !== "" || password !== "") return `${variable} must not hold a user name or password`;
  return undefined;
}

function openai({ env, config }: ProviderRegistryOptions): Candidate {
  const name = "openai";
  const baseUrl = env.OPENAI_BASE_URL?.trim() || config?.openai?.baseUrl || OPENAI_BASE_URL;
  const apiKey = env.OPENAI_API_KEY?.trim() || undefined;
  const isOfficial = URL.canParse(baseUrl) && new URL(baseUrl).host === new URL(OPENAI_BASE_URL).host;
  const problem = problemWithUrl(baseUrl, "OPENAI_BASE_URL") ?? (isOfficial && !apiKey ? "set OPENAI_API_KEY" : undefined);
  if (problem) return { name, problem };
  return createCompatibleProvider({
    name,
    baseUrl,
    baseUrlVariable: "OPENAI_BASE_URL",
    apiKey,
    keyVariable: "OPENAI_API_KEY",
    listPrices: isOfficial,
    hasCompletionTokenLimit: isOfficial,
  });
}

function ollama({ env, config }: ProviderRegistryOptions): Candidate {
  const name = "ollama";
  const baseUrl = env.OLLAMA_BASE_URL?.trim() || config?.ollama?.baseUrl || OLLAMA_BASE_URL;
  const problem = problemWithUrl(baseUrl, "OLLAMA_BASE_URL");
  if (problem) return { name, problem };
  return createCompatibleProvider({ name, baseUrl, baseUrlVariable: "OLLAMA_BASE_URL", listPrices: true, hasCompletionTokenLimit: false });
}

function isProvider(candidate: Candidate): candidate is ModelProvider {
  return "languageModel" in candidate;
}

/** The providers that this environment allows. Keys are read from it and from nowhere else; nothing is asked over the network. */
export function createProviderRegistry(options: ProviderRegistryOptions): ProviderRegistry {
  const candidates: readonly Candidate[] = [createDemoProvider(options.config?.demo), openai(options), ollama(options)];
  const providers = candidates.filter(isProvider);
  const statuses = candidates.map((candidate) => ({
    name: candidate.name,
    isAvailable: isProvider(candidate),
    problem: isProvider(candidate) ? "" : candidate.problem,
  }));
  return {
    providers,
    check: () => statuses,
    checkModel(model) {
      const { provider: name, modelId } = parseModelName(model);
      const status = statuses.find((candidate) => candidate.name === name);
      if (!status) {
        const known = statuses.map((candidate) => candidate.name).join(", ");
        throw new ForgeError(ErrorCode.NOT_FOUND, `There is no model provider "${name}" (of ${model}). Known are: ${known}.`, {
          reason: "PROVIDER_NOT_FOUND",
          origin: "worker",
        });
      }
      if (!status.isAvailable)
        throw ForgeError.validation("model", `${model} can't be used: ${name}: ${status.problem}.`, { reason: "PROVIDER_NOT_CONFIGURED", origin: "worker" });
      providers.find((provider) => provider.name === name)?.languageModel(modelId, { failedAttempts: 0 });
    },
  };
}
