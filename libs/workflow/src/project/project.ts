import { basename, resolve } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { ConfigPlace, Environment } from "./config-file.ts";
import type { RuntimeConfig } from "./config-schema.ts";
import { dataDirectory, findDataDirectory } from "./data-directory.ts";
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
  readonly promptsDir: string;
  readonly functionsDir: string;
  readonly toolsDir: string;
  /** Where the embedded server keeps its data. */
  readonly dataDir: string;
  /** What is odd in `runtime.yaml`. */
  readonly warnings: readonly string[];
  /** Where the field with a dotted path is written; undefined where it has its default. */
  readonly placeOf: (field: string) => ConfigPlace | undefined;
}

/**
 * Opens the project in a directory, whether or not it has a `runtime.yaml`. `environment` has the variables that its configuration names; absent: this
 * process's. Throws ForgeError: not_found; validation, CONFIG_VALIDATION.
 */
export async function openProject(directory: string, environment: Environment = process.env): Promise<Project> {
  const root = resolve(directory);
  if (!(await exists(root, "directory"))) {
    throw new ForgeError(ErrorCode.NOT_FOUND, `there is no directory ${root}`, { reason: "PROJECT_NOT_FOUND", metadata: { file: root } });
  }
  const { config, warnings, placeOf } = await loadConfig(root, environment);
  const dataDir = dataDirectory(root, config.db_path);
  const written = placeOf("db_path");
  if (findDataDirectory(root, environment) !== dataDir) throw wrongDbPath("db_path has to be on a line of its own, as in `db_path: store`", written);
  if (written !== undefined && (await exists(dataDir, "file")))
    throw wrongDbPath(`db_path: ${dataDir} is a file; name a directory, or the URL of a database`, written);
  return {
    root,
    name: basename(root),
    config,
    workflowsDir: resolve(root, config.workflows_dir),
    agentsDir: resolve(root, config.agents_dir),
    promptsDir: resolve(root, config.prompts_dir),
    functionsDir: resolve(root, config.functions_dir),
    toolsDir: resolve(root, config.tools_dir),
    dataDir,
    warnings,
    placeOf,
  };
}

/** Every command looks for the data before anything else, and reads no YAML for that. */
function wrongDbPath(message: string, place: ConfigPlace | undefined): ForgeError {
  const at = place === undefined ? "" : `${place.file}:${place.line}:${place.column}: `;
  const metadata: Record<string, string> = place === undefined ? {} : { file: place.file, line: String(place.line), column: String(place.column) };
  return ForgeError.validation("db_path", `${at}${message}`, { reason: "CONFIG_VALIDATION", metadata });
}
