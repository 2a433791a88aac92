// For whoever only wants to find a project's server: loads nothing of what serves it.
export { type Address, readAddress } from "./address-file.ts";
export { dataDirectoryOf, projectQueue } from "./project-paths.ts";
export { tokenIn } from "./tokens.ts";
export { VERSION } from "./version.ts";
