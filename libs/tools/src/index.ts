// For hosts: what a worker serves.

// For authors of functions and tools.
export type { FunctionContext } from "./functions/child-protocol.ts";
export type { FunctionLogLine } from "./functions/function-handler.ts";
export { createFunctionHandlers, type FunctionHandlers, type FunctionHandlersOptions } from "./functions/function-handlers.ts";
// Hooks of a project or a person.
export { callHook, type HookRunnerOptions } from "./hooks/call-hook.ts";
export { createHookHandlers } from "./hooks/hook-handlers.ts";
export { type HooksConfig, joinHooks, type ProjectHook, parseHooks } from "./hooks/hooks-config.ts";
export { type ToolHooksOptions, withToolHooks } from "./hooks/tool-hooks.ts";
// Tools of MCP servers.
export { createMcpTools, type McpTools, type McpToolsOptions } from "./mcp/create-mcp-tools.ts";
export { type HttpServer, type McpConfig, type McpProblem, type McpServer, parseMcpConfig, type StdioServer } from "./mcp/mcp-config.ts";
export { loginMcpServer, type McpLoginOptions } from "./mcp/mcp-login.ts";
export { McpTokens } from "./mcp/mcp-tokens.ts";
export { type McpWorker, type McpWorkerOptions, startMcpWorker } from "./mcp/mcp-worker.ts";
// For everything that starts commands.
export { type BackgroundOwner, BackgroundProcesses } from "./process/background-processes.ts";
export type { Enclosure } from "./process/enclosure.ts";
export { type ProcessResult, type RunProcessOptions, runProcess } from "./process/run-process.ts";
export type { HostRules } from "./sandbox/host-rules.ts";
export { probeSandbox, type SandboxProbe } from "./sandbox/probe-sandbox.ts";
export { createSandbox, type Sandbox, type SandboxOptions, type SandboxPolicy } from "./sandbox/sandbox.ts";
export { createScrubber, type Scrubber } from "./secrets/scrubber.ts";
export { createSecretSource, type SecretSource } from "./secrets/secret-source.ts";
export { type BuiltinToolsOptions, createBuiltinTools } from "./tools/builtin-tools.ts";
// Layers around calls.
export { policyLayer, type ToolPolicy } from "./tools/policy-layer.ts";
export type { ProgramRules } from "./tools/program-rules.ts";
export { parseTestProfiles, TEST_PROFILES_FILE, type TestProfile } from "./tools/test-profiles.ts";
export type { JsonValue, ToolCall, ToolDefinition } from "./tools/tool-definition.ts";
export { toolHandler } from "./tools/tool-handler.ts";
export type { Layer } from "./tools/tool-layer.ts";
export type { PipelineOptions } from "./tools/tool-pipeline.ts";
export { openToolWorkspace, type ToolWorkspace, type ToolWorkspaceOptions } from "./tools/tool-workspace.ts";
