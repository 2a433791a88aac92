import type { ModelProvider } from "../provider.ts";
import { boundedFetch } from "./bounded-fetch.ts";

/** Longer, and a person who waits for the answer takes it for a hang. */
const TIMEOUT_MS = 10_000;

/** Of an answer that says no, for the message. */
const QUOTE_CHARACTERS_MAX = 500;

export type CredentialResult = "ok" | "refused" | "unreachable" | "not_configured";

/** Whether a provider takes the key that this environment has for it. */
export interface CredentialCheck {
  readonly provider: string;
  readonly result: CredentialResult;
  /** What was found and what to do, without secrets; empty where all is well. */
  readonly message: string;
}

export interface CredentialCheckOptions {
  /** Absent: 10 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

async function excerpt(response: Response): Promise<string> {
  const text = (await response.text()).replaceAll(/\s+/g, " ").trim();
  return text === "" ? "" : ` It says: ${text.slice(0, QUOTE_CHARACTERS_MAX).toWellFormed()}`;
}

/** Google answers a key that it does not know with 400. */
function isRefusal(status: number, text: string): boolean {
  return status === 401 || status === 403 || (status === 400 && /api[ _]key/i.test(text));
}

async function readAnswer(response: Response, provider: ModelProvider): Promise<Pick<CredentialCheck, "result" | "message">> {
  if (response.ok) {
    await response.body?.cancel();
    return { result: "ok", message: "" };
  }
  const { status } = response;
  const said = await excerpt(response);
  const where = provider.address ? ` (${provider.address})` : "";
  if (isRefusal(status, said)) {
    const advice = provider.keyVariable ? ` Set ${provider.keyVariable} to a key that it knows, where the worker runs.` : "";
    return { result: "refused", message: `${provider.name} did not accept the key (HTTP ${status}).${said}${advice}` };
  }
  return { result: "unreachable", message: `${provider.name} did not answer with its list of models (HTTP ${status})${where}.${said}` };
}

/** Asks a provider for its list of models, which costs nothing and needs a valid key. Never rejects. */
export async function checkCredential(provider: ModelProvider, options: CredentialCheckOptions = {}): Promise<CredentialCheck> {
  const { timeoutMs = TIMEOUT_MS, signal } = options;
  const { name, credentialRequest: request } = provider;
  if (!request) return { provider: name, result: "ok", message: "" };
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await boundedFetch(request.url, { headers: { ...request.headers }, signal: signal ? AbortSignal.any([timeout, signal]) : timeout });
    const answer = await readAnswer(response, provider);
    return { provider: name, ...answer, message: provider.scrub(answer.message) };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const why = timeout.aborted ? `no answer within ${timeoutMs} ms` : cause instanceof Error ? cause.message || code : String(cause);
    const where = provider.address ? ` (${provider.address})` : "";
    return { provider: name, result: "unreachable", message: provider.scrub(`${name} can't be reached: ${why}${where}.`) };
  }
}
