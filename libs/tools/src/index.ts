// For hosts: what a worker serves.

// For authors of functions and tools.
export type { FunctionContext } from "./functions/child-protocol.ts";
export type { FunctionLogLine } from "./functions/function-handler.ts";
export { createFunctionHandlers, type FunctionHandlers, type FunctionHandlersOptions } from "./functions/function-handlers.ts";
// For everything that starts commands.
export { type ProcessResult, type RunProcessOptions, runProcess } from "./process/run-process.ts";
export { type BuiltinToolsOptions, createBuiltinTools } from "./tools/builtin-tools.ts";
export type { ProgramRules } from "./tools/program-rules.ts";
export type { JsonValue, ToolCall, ToolDefinition } from "./tools/tool-definition.ts";
export { toolHandler } from "./tools/tool-handler.ts";
