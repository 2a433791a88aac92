import type { ModelProvider } from "../provider.ts";
import { DEFAULT_DIALECT, type Dialect } from "../request/dialect.ts";
import type { ModelFacts } from "./model-table.ts";

/** Models may write more, but room for it is taken from what the request may hold. */
const OUTPUT_TOKENS_DEFAULT_MAX = 32_000;

function withFacts(base: Dialect, facts: ModelFacts, needsOutputLimit: boolean): Dialect {
  return {
    ...base,
    structuredOutput: facts.structured_output ?? base.structuredOutput,
    inputs: facts.inputs ?? base.inputs,
    reasoning: facts.reasoning ?? base.reasoning,
    maxOutputTokens: needsOutputLimit ? Math.min(facts.max_output_tokens ?? OUTPUT_TOKENS_DEFAULT_MAX, OUTPUT_TOKENS_DEFAULT_MAX) : base.maxOutputTokens,
  };
}

/** The dialect of a model: what is known of it, else what its provider says, else the default. */
export function dialectOf(provider: ModelProvider, facts: ModelFacts): Dialect {
  return withFacts({ ...DEFAULT_DIALECT, ...provider.dialect }, facts, provider.needsOutputLimit ?? false);
}
