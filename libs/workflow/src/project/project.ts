import { basename, join, resolve } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { RuntimeConfig } from "./config-schema.ts";
import { exists } from "./find-project.ts";
import { loadConfig } from "./load-config.ts";

/** A project: a directory with its configuration. All paths are absolute. */
export interface Project {
  readonly root: string;
  /** The directory's name. */
  readonly name: string;
  readonly config: RuntimeConfig;
  readonly workflowsDir: string;
  readonly agentsDir: string;
  readonly functionsDir: string;
  readonly toolsDir: string;
  /** Where the embedded server keeps its data. */
  readonly dataDir: string;
  /** What is odd in `runtime.yaml`. */
  readonly warnings: readonly string[];
}

/** Opens the project in a directory, whether or not it has a `runtime.yaml`. Throws ForgeError: not_found; validation, CONFIG_VALIDATION. */
export async function openProject(directory: string): Promise<Project> {
  const root = resolve(directory);
  if (!(await exists(root, "directory"))) {
    throw new ForgeError(ErrorCode.NOT_FOUND, `there is no directory ${root}`, { reason: "PROJECT_NOT_FOUND", metadata: { file: root } });
  }
  const { config, warnings } = await loadConfig(root);
  return {
    root,
    name: basename(root),
    config,
    workflowsDir: resolve(root, config.workflows_dir),
    agentsDir: resolve(root, config.agents_dir),
    functionsDir: resolve(root, config.functions_dir),
    toolsDir: resolve(root, config.tools_dir),
    dataDir: join(root, ".forge", "data"),
    warnings,
  };
}
