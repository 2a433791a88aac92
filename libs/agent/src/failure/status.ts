import type { ModelProvider } from "../provider.ts";

/** What an HTTP status means for the call. `verb` follows the provider's name, `advice` its words. */
export interface StatusMeaning {
  readonly reason: string;
  readonly verb: string;
  readonly isTransient: boolean;
  readonly advice: string;
}

function aboutKey(provider: ModelProvider): string {
  return provider.keyVariable ? ` Set ${provider.keyVariable} to a key that may use this model, where the worker runs.` : "";
}

/** `name` is the error's code or type from the body, where there is one. */
export function describeStatus(status: number, name: string, provider: ModelProvider): StatusMeaning {
  // OpenAI answers 429 as well where the account has no money left, which no waiting helps.
  if (status === 402 || name.includes("insufficient_quota")) {
    return { reason: "QUOTA_EXHAUSTED", verb: "has no quota left for this key", isTransient: false, advice: " Check the account's plan and billing." };
  }
  if (status === 401) return { reason: "PROVIDER_UNAUTHENTICATED", verb: "did not accept the key", isTransient: false, advice: aboutKey(provider) };
  if (status === 403) return { reason: "PROVIDER_FORBIDDEN", verb: "refused access", isTransient: false, advice: aboutKey(provider) };
  if (status === 404)
    return { reason: "MODEL_NOT_FOUND", verb: "does not know what was asked for", isTransient: false, advice: " Check the model's name and the base URL." };
  if (status === 429) return { reason: "RATE_LIMITED", verb: "is limiting the rate", isTransient: true, advice: "" };
  if (status === 408 || status === 409) return { reason: "PROVIDER_UNAVAILABLE", verb: "did not serve the request", isTransient: true, advice: "" };
  // 501 and 505 say that it never will.
  if (status >= 500) return { reason: "PROVIDER_UNAVAILABLE", verb: "failed", isTransient: status !== 501 && status !== 505, advice: "" };
  return { reason: "INVALID_REQUEST", verb: "refused the request", isTransient: false, advice: "" };
}
