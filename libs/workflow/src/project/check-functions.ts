import { readdir } from "node:fs/promises";
import { basename, extname } from "node:path";
import { ForgeError } from "@forge/protocol";
import { definitionReferences } from "../definition/definition-references.ts";
import { locateFunction } from "../definition/locate-function.ts";
import type { LoadedWorkflow } from "../definition/parse-workflow.ts";
import { unknownName } from "../yaml/problems.ts";
import type { Project } from "./project.ts";

const MODULE = /^[^_].*\.(?:ts|js|mjs|py)$/;
const NO_MODULE = /\.(?:d|spec|test)\.(?:ts|js|mjs)$/;

/** What is wrong with the functions that a workflow names, as far as that shows without loading anything: modules that are not in the project. In order of first use. */
export async function checkFunctions({ definition, file }: LoadedWorkflow, project: Project): Promise<ForgeError[]> {
  const modules = await modulesOf(project.functionsDir);
  return definitionReferences(definition).functions.flatMap((name) => {
    const module = name.slice(0, name.lastIndexOf("."));
    if (modules.includes(module)) return [];
    const position = locateFunction(definition, name);
    const place: Record<string, string> = position === undefined ? {} : { line: String(position.line), column: String(position.column) };
    const message = `function \`${name}\`: ${unknownName("module", module, modules)} (looked in ${project.functionsDir})`;
    return [ForgeError.validation("function", message, { reason: "FUNCTION_NOT_SERVED", metadata: { name, file, ...place } })];
  });
}

async function modulesOf(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    throw ForgeError.validation("functions_dir", `${directory} can't be read: ${message}`, { reason: "CONFIG_VALIDATION", cause: error });
  });
  const files = entries.filter((entry) => !entry.isDirectory() && MODULE.test(entry.name) && !NO_MODULE.test(entry.name));
  return files.map(({ name }) => basename(name, extname(name))).toSorted();
}
