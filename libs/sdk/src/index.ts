// For whoever embeds.

// What they throw.
export { ForgeError } from "@forge/protocol";
export { ErrorCode } from "@forge/protocol/common";
// For authors of tools, functions and providers.
export type { FunctionContext, Logger, ToolContext } from "./context.ts";
export { defineFunction, type FunctionOptions } from "./define-function.ts";
export { defineProvider, type ProviderOptions } from "./define-provider.ts";
export { defineTool, type ToolOptions } from "./define-tool.ts";
export type { Definition, FunctionDefinition, ProviderDefinition, ToolDefinition } from "./definition.ts";
export { Forge, type LocalForge, type LocalForgeOptions } from "./local/forge.ts";
export type { RunOptions } from "./local/run-workflow.ts";
export { type ServeOptions, serve } from "./serve.ts";
