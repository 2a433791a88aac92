import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Dialect } from "./request/dialect.ts";

/** What a provider is told of a call beside the request itself; none of it is sent. */
export interface ModelCall {
  /** Attempts of this model call that failed before this one. */
  readonly failedAttempts: number;
}

/** How a provider's list of models is asked for, which needs a valid key and costs nothing. */
export interface CredentialRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Somebody who serves models: one worker capability, `<name>/*`. */
export interface ModelProvider {
  /** The part of a model's name before the first slash. */
  readonly name: string;
  /** Packages that turn our request into the provider's, with their versions; recorded with every call. */
  readonly versions: Readonly<Record<string, string>>;
  /** The environment variable with its key, to be named where the provider refuses the caller. */
  readonly keyVariable?: string;
  /** Where it is reached and how to change that, for messages. */
  readonly address?: string;
  /** Whether the prices that come with Forge hold here: not where the name is borrowed by another server. */
  readonly listPrices: boolean;
  /** How its requests are written, where the table of models does not tell. */
  readonly dialect?: Partial<Dialect>;
  /** Its wire format wants a bound of every answer, so one is sent where nobody set one. */
  readonly needsOutputLimit?: boolean;
  /** Answers within this process: it can't be out of reach. */
  readonly inProcess?: boolean;
  /** Absent: its key can't be checked. */
  readonly credentialRequest?: CredentialRequest;
  /**
   * The model of this id (without the provider's name). Tool-call inputs in the prompt are the argument text exactly, not a parsed object.
   * Throws a ForgeError (not_found) where it is known that there is no such model.
   */
  languageModel(modelId: string, call: ModelCall): LanguageModelV4;
  /** The text without anything secret that this provider was configured with. */
  scrub(text: string): string;
}
