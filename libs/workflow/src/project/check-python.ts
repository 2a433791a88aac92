import { stat } from "node:fs/promises";
import { join, relative } from "node:path";
import type { StepDefinition } from "@forge/protocol/workflow";
import { isMap, isScalar, isSeq } from "yaml";
import type { LoadedWorkflow } from "../definition/loaded-workflow.ts";
import { startOf, YamlSource } from "../yaml/yaml-source.ts";
import type { Project } from "./project.ts";
import { type PythonFile, pythonFiles } from "./python-files.ts";

/** Modules of the product's own package that Forge brings where a project's Python does not have it. */
const BROUGHT = new Set(["agent_runtime.tools", "agent_runtime.tools.base"]);
const IMPORT = /^[ \t]*(?:from|import)[ \t]+((?:agent_runtime|forrestrun)(?:\.\w+)*)/gm;
const MEMORY = /\[\s*["']memory["']\s*\]|\.get\(\s*["']memory["']/g;
const TOOL_NAME = /^[ \t]+name(?:[ \t]*:[^=\n]+)?[ \t]*=[ \t]*["']([^"']+)["']/gm;
const WARNINGS_MAX = 20;

/**
 * What of a project in Python is not kept here, or only under a condition, each with its place and the reason; empty for a project without Python. Nothing is
 * run.
 */
export async function checkPython(project: Project): Promise<string[]> {
  const { root, functionsDir, toolsDir, config } = project;
  const files = [...(await pythonFiles(functionsDir)), ...(await pythonFiles(toolsDir))];
  if (files.length === 0) return [];
  const warnings = files.flatMap((file) => [
    ...placesOf(file, IMPORT, root).flatMap(({ place, match }) => {
      const module = match[1] ?? "";
      if (BROUGHT.has(module)) return [];
      return [`${place}: imports ${module}, which Forge does not bring (it brings agent_runtime.tools.base): install forrestrun for the project's Python`];
    }),
    ...placesOf(file, MEMORY, root).map(({ place }) => `${place}: reads "memory" of the run's state, where Forge keeps none`),
  ]);
  const database = config.db_path ?? "runtime.db";
  if (/\.(?:db|sqlite3?)$/.test(database) && (await exists(join(root, database)))) {
    warnings.push(`${database}: its runs stay there; they are not taken over, and a failed one is resumed by what began it`);
  }
  return warnings.slice(0, WARNINGS_MAX);
}

/**
 * What a workflow of a project in Python does otherwise here, each with its place and the reason: a person is asked before an agent calls a tool.
 */
export async function checkPythonWorkflow({ definition, file }: LoadedWorkflow, project: Project): Promise<string[]> {
  const tools = await pythonFiles(project.toolsDir);
  if (tools.length === 0 && (await pythonFiles(project.functionsDir)).length === 0) return [];
  const source = new YamlSource(definition.workflowYaml, "");
  const placeOf = (id: string): string => {
    const position = placeOfStep(source, id);
    return position === undefined ? file : `${file}:${position.line}:${position.column}`;
  };
  const warnings: string[] = [];
  for (const step of definition.steps) {
    const { id } = step;
    const asked = askedTools(step, tools, project);
    if (asked.length > 0) {
      const advice = "allow them under `policy` in runtime.yaml";
      warnings.push(`${placeOf(id)}: a person is asked before the agent of step ${id} calls ${asked.join(", ")}: ${advice}`);
    }
  }
  return warnings.slice(0, WARNINGS_MAX);
}

/** Tools of the project that an agent may call and nobody has said anything of. */
function askedTools({ kind }: StepDefinition, files: readonly PythonFile[], { config: { policy } }: Project): string[] {
  if (kind.case !== "agent" || policy.default !== undefined) return [];
  const own = new Set(files.flatMap(({ text }) => Array.from(text.matchAll(TOOL_NAME), ([, name = ""]) => name)));
  const isRuled = (tool: string): boolean =>
    policy.rules.some((rule) => (rule.tool.endsWith("*") ? tool.startsWith(rule.tool.slice(0, -1)) : tool === rule.tool));
  return (kind.value.agent?.tools ?? []).filter((tool) => own.has(tool) && !isRuled(tool));
}

function placeOfStep(source: YamlSource, id: string): { readonly line: number; readonly column: number } | undefined {
  const steps = isMap(source.root) ? source.root.get("steps", true) : undefined;
  if (!isSeq(steps)) return undefined;
  for (const step of steps.items) {
    const node = isMap(step) ? step.get("id", true) : undefined;
    if (isScalar(node) && node.value === id) return source.position(startOf(node));
  }
  return undefined;
}

function placesOf({ file, text }: PythonFile, pattern: RegExp, root: string): { readonly place: string; readonly match: RegExpMatchArray }[] {
  return Array.from(text.matchAll(pattern), (match) => {
    const before = text.slice(0, match.index).split("\n");
    return { place: `${relative(root, file)}:${before.length}:${(before.at(-1) ?? "").length + 1}`, match };
  });
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}
