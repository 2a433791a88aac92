import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { createDemoProvider } from "./demo/provider.ts";
import { parseModelName } from "./model-name.ts";
import type { ModelTable } from "./models/model-table.ts";
import { readModelsFile } from "./models/read-models-file.ts";
import type { ModelProvider } from "./provider.ts";
import { createAnthropicProvider } from "./providers/anthropic.ts";
import { isSameHost, problemWithUrl, withPath } from "./providers/base-url.ts";
import { createCompatibleProvider } from "./providers/compatible.ts";
import { type CredentialCheck, type CredentialCheckOptions, checkCredential } from "./providers/credential-check.ts";
import { createGoogleProvider } from "./providers/google.ts";

const OPENAI_BASE_URL = "https://api.openai.com/v1";
const OLLAMA_BASE_URL = "http://127.0.0.1:11434/v1";
const ANTHROPIC_BASE_URL = "https://api.anthropic.com/v1";
const GOOGLE_BASE_URL = "https://generativelanguage.googleapis.com/v1beta";

/** What may be set beside the environment; keys never are. */
export interface ProviderConfig {
  readonly openai?: { readonly baseUrl?: string };
  readonly ollama?: { readonly baseUrl?: string };
  readonly anthropic?: { readonly baseUrl?: string };
  readonly google?: { readonly baseUrl?: string };
  /** Between two pieces of the demo models' answers, in milliseconds; absent: 4. */
  readonly demo?: { readonly pieceDelayMs?: number };
  /** A file that says more of models than the table that comes with Forge, or otherwise; FORGE_MODELS_FILE holds before it. */
  readonly modelsFile?: string;
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
  /** What the file of models says; empty where there is none. */
  readonly models: ModelTable;
  /** Every provider that Forge knows. */
  check(): readonly ProviderStatus[];
  /** Throws where the model can't be served as far as is known without asking its provider: validation or not_found, saying what to do. */
  checkModel(model: string): void;
  /** Asks a provider, over the network, whether it takes the key. Throws not_found where Forge knows no such provider; never rejects otherwise. */
  checkCredentials(provider: string, options?: CredentialCheckOptions): Promise<CredentialCheck>;
}

type Candidate = ModelProvider | { readonly name: string; readonly problem: string };

/** The first of these variables that is set. */
function firstSet(env: ProviderRegistryOptions["env"], names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = env[name]?.trim();
    if (value) return value;
  }
  return undefined;
}

function openai({ env, config }: ProviderRegistryOptions): Candidate {
  const name = "openai";
  const baseUrl = firstSet(env, ["OPENAI_BASE_URL"]) ?? config?.openai?.baseUrl ?? OPENAI_BASE_URL;
  const apiKey = firstSet(env, ["OPENAI_API_KEY"]);
  const isOfficial = isSameHost(baseUrl, OPENAI_BASE_URL);
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
    dialect: isOfficial ? { structuredOutput: "always", inputs: ["image", "pdf"] } : {},
  });
}

function ollama({ env, config }: ProviderRegistryOptions): Candidate {
  const name = "ollama";
  const baseUrl = firstSet(env, ["OLLAMA_BASE_URL"]) ?? config?.ollama?.baseUrl ?? OLLAMA_BASE_URL;
  const problem = problemWithUrl(baseUrl, "OLLAMA_BASE_URL");
  if (problem) return { name, problem };
  return createCompatibleProvider({
    name,
    baseUrl,
    baseUrlVariable: "OLLAMA_BASE_URL",
    // Needed only where it stands behind something that wants one.
    apiKey: firstSet(env, ["OLLAMA_API_KEY"]),
    keyVariable: "OLLAMA_API_KEY",
    listPrices: true,
    hasCompletionTokenLimit: false,
    // It reads the arguments of earlier calls, and refuses the whole request where they are no object.
    dialect: { callArguments: "object", structuredOutput: "without_tools" },
  });
}

function anthropic({ env, config }: ProviderRegistryOptions): Candidate {
  const name = "anthropic";
  const given = firstSet(env, ["ANTHROPIC_BASE_URL"]) ?? config?.anthropic?.baseUrl ?? ANTHROPIC_BASE_URL;
  const apiKey = firstSet(env, ["ANTHROPIC_API_KEY"]);
  const isOfficial = isSameHost(given, ANTHROPIC_BASE_URL);
  const problem = problemWithUrl(given, "ANTHROPIC_BASE_URL") ?? (isOfficial && !apiKey ? "set ANTHROPIC_API_KEY" : undefined);
  if (problem) return { name, problem };
  return createAnthropicProvider({ baseUrl: withPath(given, "/v1"), apiKey, listPrices: isOfficial });
}

/** Both names that Google's models go by. */
function google(name: string): (options: ProviderRegistryOptions) => Candidate {
  return ({ env, config }) => {
    const given = firstSet(env, ["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_BASE_URL"]) ?? config?.google?.baseUrl ?? GOOGLE_BASE_URL;
    const apiKey = firstSet(env, ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"]);
    const isOfficial = isSameHost(given, GOOGLE_BASE_URL);
    const problem = problemWithUrl(given, "GEMINI_BASE_URL") ?? (isOfficial && !apiKey ? "set GEMINI_API_KEY" : undefined);
    if (problem) return { name, problem };
    return createGoogleProvider({ name, baseUrl: withPath(given, "/v1beta"), apiKey, listPrices: isOfficial });
  };
}

const KNOWN: readonly ((options: ProviderRegistryOptions) => Candidate)[] = [
  ({ config }) => createDemoProvider(config?.demo),
  openai,
  anthropic,
  google("google"),
  google("gemini"),
  ollama,
];

function isProvider(candidate: Candidate): candidate is ModelProvider {
  return "languageModel" in candidate;
}

/**
 * The providers that this environment allows. Keys are read from it and from nowhere else; nothing is asked over the network. Throws validation where there is a file
 * of models that can't be used.
 */
export function createProviderRegistry(options: ProviderRegistryOptions): ProviderRegistry {
  const candidates = KNOWN.map((create) => create(options));
  const providers = candidates.filter(isProvider);
  const statuses = candidates.map((candidate) => ({
    name: candidate.name,
    isAvailable: isProvider(candidate),
    problem: isProvider(candidate) ? "" : candidate.problem,
  }));
  const modelsFile = firstSet(options.env, ["FORGE_MODELS_FILE"]) ?? options.config?.modelsFile;
  const findStatus = (name: string, asked: string): ProviderStatus => {
    const status = statuses.find((candidate) => candidate.name === name);
    if (status) return status;
    const known = statuses.map((candidate) => candidate.name).join(", ");
    const of = asked === name ? "" : ` (of ${asked})`;
    throw new ForgeError(ErrorCode.NOT_FOUND, `There is no model provider "${name}"${of}. Known are: ${known}.`, {
      reason: "PROVIDER_NOT_FOUND",
      origin: "worker",
    });
  };
  return {
    providers,
    models: modelsFile === undefined ? {} : readModelsFile(modelsFile),
    check: () => statuses,
    checkModel(model) {
      const { provider: name, modelId } = parseModelName(model);
      const status = findStatus(name, model);
      if (!status.isAvailable)
        throw ForgeError.validation("model", `${model} can't be used: ${name}: ${status.problem}.`, { reason: "PROVIDER_NOT_CONFIGURED", origin: "worker" });
      providers.find((provider) => provider.name === name)?.languageModel(modelId, { failedAttempts: 0 });
    },
    async checkCredentials(name, checkOptions) {
      const { problem } = findStatus(name, name);
      const provider = providers.find((candidate) => candidate.name === name);
      return provider ? checkCredential(provider, checkOptions) : { provider: name, result: "not_configured", message: `${name}: ${problem}.` };
    },
  };
}
