import type { ModelProvider, PriceTable } from "@forge/agent";
import { ForgeError } from "@forge/protocol";
import type { ToolSpec } from "@forge/protocol/tool";
import type { HookPoint } from "@forge/worker";
import type { FunctionContext, HookContext, ToolContext } from "./context.ts";

/** Tells definitions from whatever else a file exports, also where two copies of this package are loaded. */
export const DEFINITION: unique symbol = Symbol.for("forge.definition");

/** A tool, as `defineTool` makes it. */
export interface ToolDefinition {
  readonly [DEFINITION]: "tool";
  readonly name: string;
  readonly spec: ToolSpec;
  /** The arguments as the tool takes them. Errors: validation, TOOL_ARGUMENTS, naming the field. */
  parse(args: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** What a call would do; absent where it can't be told. */
  preview?(input: unknown, context: ToolContext): unknown;
  run(input: unknown, context: ToolContext): unknown;
}

/** A workflow function, as `defineFunction` makes it. */
export interface FunctionDefinition {
  readonly [DEFINITION]: "function";
  readonly name: string;
  /** The input as the function takes it. Errors: validation, FUNCTION_INPUT, naming the field. */
  parse(input: Readonly<Record<string, unknown>>): Promise<unknown>;
  run(input: unknown, context: FunctionContext): unknown;
}

/** A model provider, as `defineProvider` makes it. */
export interface ProviderDefinition {
  readonly [DEFINITION]: "provider";
  readonly name: string;
  readonly provider: ModelProvider;
  readonly prices: PriceTable;
}

/** A hook, as `defineHook` makes it. */
export interface HookDefinition {
  readonly [DEFINITION]: "hook";
  readonly name: string;
  readonly at: readonly HookPoint[];
  run(context: HookContext): unknown;
}

/** What a worker can serve. */
export type Definition = ToolDefinition | FunctionDefinition | ProviderDefinition | HookDefinition;

export function isDefinition(value: unknown): value is Definition {
  return typeof value === "object" && value !== null && DEFINITION in value;
}

/** Errors: validation, DEFINITION, naming the field, for a name that no worker may register. */
export function checkName(kind: string, name: string, pattern: RegExp, rule: string): void {
  if (pattern.test(name)) return;
  throw invalidDefinition("name", `${kind} ${JSON.stringify(name)}: a name has ${rule}`);
}

export function invalidDefinition(field: string, message: string): ForgeError {
  return ForgeError.validation(field, message, { reason: "DEFINITION", origin: "worker" });
}
