// For whoever only wants to know whether a workspace is trusted: loads nothing of what serves it.
export { configDirectoryOf, readWorkspaceCode, sessionHooks } from "./extensions/workspace-code.ts";
export { stateDirectoryOf } from "./trust/state-directory.ts";
export { type TrustState, type WorkspaceTrust, workspaceTrust } from "./trust/workspace-trust.ts";
