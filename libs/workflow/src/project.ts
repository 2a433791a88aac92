// For whoever only wants to know what a project is configured as: loads nothing of its workflows.
export { findProject } from "./project/find-project.ts";
export { overwritePolicy } from "./project/overwrite-policy.ts";
export { openProject, type Project } from "./project/project.ts";
export { retention } from "./project/retention.ts";
export { toolPolicy } from "./project/tool-policy.ts";
