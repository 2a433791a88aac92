// For whoever only reads what a workspace configures: loads nothing of what runs it.
export { hookSpecs } from "./hooks/hook-specs.ts";
export { type HooksConfig, joinHooks, type ProjectHook, parseHooks } from "./hooks/hooks-config.ts";
export { type McpConfig, parseMcpConfig } from "./mcp/mcp-config.ts";
