// For whoever only wants to find a project's server: loads nothing of what serves it.
export { isDemoModel } from "@forge/agent/demo-models";
export { type Address, readAddress } from "./address-file.ts";
export { claimData, type DataOrigin, dataOrigin } from "./data-origin.ts";
export { dataDirectoryOf, projectQueue } from "./project-paths.ts";
export { stateDirectoryOf } from "./trust/state-directory.ts";
export { VERSION } from "./version.ts";
