// For whoever looks what is wrong, and logs in.
export { createProviderRegistry } from "@forge/agent";
export { inspectDatabase, inspectEmbedded } from "@forge/store-postgres";
export {
  type HttpServer,
  loginMcpServer,
  type McpConfig,
  type McpServer,
  McpTokens,
  parseMcpConfig,
  probeSandbox,
  type SandboxProbe,
} from "@forge/tools";
export { type Address, readAddress } from "./address-file.ts";
export { checkModel } from "./check-model.ts";
export { type ControlPlaneService, type ControlPlaneServiceOptions, startControlPlane } from "./control-plane.ts";
export { type DatabaseOptions, type OpenDatabase, openDatabase } from "./database.ts";
export { type Executor, type ExecutorOptions, startExecutor } from "./executor.ts";
export { configDirectoryOf, readWorkspaceCode, sessionHooks, type WorkspaceCode } from "./extensions/workspace-code.ts";
export { dataDirectoryOf, projectQueue } from "./project-paths.ts";
export { type ProjectReader, type ProjectReaderOptions, startProjectReader } from "./project-reader.ts";
export { type ProjectServer, type ProjectServerOptions, startProjectServer } from "./project-server.ts";
export { type RemoteExecutorOptions, startRemoteExecutor } from "./remote-executor.ts";
export { grant, newToken, principalOf, tokenIn } from "./tokens.ts";
export { startToolProcess, type ToolProcess, type ToolProcessOptions } from "./tool-process.ts";
export { stateDirectoryOf } from "./trust/state-directory.ts";
export { type TrustState, type WorkspaceTrust, workspaceTrust } from "./trust/workspace-trust.ts";
export { VERSION } from "./version.ts";
