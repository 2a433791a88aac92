import type { RiskLevel } from "@forge/protocol/tool";

/** What JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** What a tool is given beside its arguments. */
export interface ToolCall {
  /** Aborted on cancellation, on a lost lease and when the time is up; `reason` is a ForgeError. */
  readonly signal: AbortSignal;
  /** Shows a piece of output while the call runs. */
  report(text: string): void;
}

/** A tool in TypeScript: what a model sees of it, and what it does. */
export interface ToolDefinition<Arguments> {
  /** Dotted, at most 128 characters. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema (2020-12); arguments that don't match it never reach `execute`. */
  readonly inputSchema: { readonly [key: string]: unknown };
  /** True only where calling twice has the effect of once. */
  readonly idempotent: boolean;
  readonly risk: RiskLevel;
  /** The longest that one call may take. */
  readonly timeoutMs: number;
  /**
   * Resolves with the call's output. Settles only when everything that it began has stopped, also after the signal; where that can't be made sure, it throws
   * stopUnconfirmed(). A ForgeError that it throws is the call's error.
   */
  execute(args: Arguments, call: ToolCall): Promise<JsonValue>;
}
