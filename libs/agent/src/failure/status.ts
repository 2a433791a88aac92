import type { ModelProvider } from "../provider.ts";
import { isOverflow } from "./overflow.ts";

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

/** Codes and words of an account without money: OpenAI answers 429 then, Anthropic 400; no waiting helps. */
const NO_QUOTA =
  /insufficient_quota|insufficient_balance|billing_(?:hard_limit|not_active|error)|credit balance is too low|insufficient (?:credits|balance|funds)/i;

/** What the body says, as far as it changes what the status means. */
export interface StatusBody {
  /** The error's code and type; empty where there is none. */
  readonly name: string;
  /** The provider's words. */
  readonly said: string;
  /** Google's: see readGoogleDetails. */
  readonly isDailyQuota: boolean;
  readonly reason: string;
}

/** What an answer with this status and body means. */
export function describeStatus(status: number, body: StatusBody, provider: ModelProvider): StatusMeaning {
  if (status === 402 || NO_QUOTA.test(body.name) || (status < 500 && NO_QUOTA.test(body.said)) || (status === 429 && body.isDailyQuota)) {
    return { reason: "QUOTA_EXHAUSTED", verb: "has no quota left for this key", isTransient: false, advice: " Check the account's plan and billing." };
  }
  if (isOverflow(status, `${body.name} ${body.said}`)) {
    return { reason: "CONTEXT_OVERFLOW", verb: "refused the request as too long for the model", isTransient: false, advice: "" };
  }
  // Google answers 400 to a key that it does not know.
  if (status === 401 || body.reason === "API_KEY_INVALID")
    return { reason: "PROVIDER_UNAUTHENTICATED", verb: "did not accept the key", isTransient: false, advice: aboutKey(provider) };
  if (status === 403) return { reason: "PROVIDER_FORBIDDEN", verb: "refused access", isTransient: false, advice: aboutKey(provider) };
  if (status === 404)
    return { reason: "MODEL_NOT_FOUND", verb: "does not know what was asked for", isTransient: false, advice: " Check the model's name and the base URL." };
  if (status === 429) return { reason: "RATE_LIMITED", verb: "is limiting the rate", isTransient: true, advice: "" };
  if (status === 408 || status === 409) return { reason: "PROVIDER_UNAVAILABLE", verb: "did not serve the request", isTransient: true, advice: "" };
  // 501 and 505 say that it never will.
  if (status >= 500) return { reason: "PROVIDER_UNAVAILABLE", verb: "failed", isTransient: status !== 501 && status !== 505, advice: "" };
  return { reason: "INVALID_REQUEST", verb: "refused the request", isTransient: false, advice: "" };
}
