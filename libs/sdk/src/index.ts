// For whoever embeds.

// What they throw.
export { ForgeError } from "@forge/protocol";
export { ErrorCode } from "@forge/protocol/common";
export type { HookChange, HookMessage, HookPoint, HookToolCall } from "@forge/worker";
// For authors of tools, functions, hooks and providers.
export type { FunctionContext, HookContext, Logger, ToolContext } from "./context.ts";
export { defineFunction, type FunctionOptions } from "./define-function.ts";
export { defineHook, type HookAnswer, type HookOptions } from "./define-hook.ts";
export { defineProvider, type ProviderOptions } from "./define-provider.ts";
export { defineTool, type ToolOptions } from "./define-tool.ts";
export type { Definition, FunctionDefinition, HookDefinition, ProviderDefinition, ToolDefinition } from "./definition.ts";
export { InputRequired } from "./input-required.ts";
export { Forge, type LocalForge, type LocalForgeOptions } from "./local/forge.ts";
export type { RunOptions } from "./local/run-workflow.ts";
export type { Preview } from "./preview.ts";
export { type ServeOptions, serve } from "./serve.ts";
