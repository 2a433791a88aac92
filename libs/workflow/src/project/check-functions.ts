import { relative } from "node:path";
import { ForgeError } from "@forge/protocol";
import { definitionReferences } from "../definition/definition-references.ts";
import type { LoadedWorkflow } from "../definition/loaded-workflow.ts";
import { locateFunction } from "../definition/locate-function.ts";
import { unknownName } from "../yaml/problems.ts";
import { type FunctionModule, functionModules } from "./function-modules.ts";
import type { Project } from "./project.ts";

/**
 * What is wrong with the functions that a workflow names, as far as that shows without running anything: modules and functions that are not in the project, and
 * names that two files have. In order of first use.
 */
export async function checkFunctions({ definition, file }: LoadedWorkflow, project: Project): Promise<ForgeError[]> {
  const { functions } = definitionReferences(definition);
  if (functions.length === 0) return [];
  const modules = await functionModules(project.functionsDir);
  return functions.flatMap((name) => {
    const problem = problemOf(name, modules, project);
    if (problem === undefined) return [];
    const position = locateFunction(definition, name);
    const place: Record<string, string> = position === undefined ? {} : { line: String(position.line), column: String(position.column) };
    const message = `function \`${name}\`: ${problem.message}`;
    return [ForgeError.validation("function", message, { reason: problem.reason, metadata: { name, file, ...place } })];
  });
}

interface FunctionProblem {
  readonly reason: "FUNCTION_NOT_SERVED" | "FUNCTION_AMBIGUOUS";
  readonly message: string;
}

function problemOf(name: string, modules: readonly FunctionModule[], { root, functionsDir }: Project): FunctionProblem | undefined {
  const dot = name.lastIndexOf(".");
  const [module, own] = dot < 0 ? [undefined, name] : [name.slice(0, dot), name.slice(dot + 1)];
  // A name alone may be of any module of Python.
  const candidates = modules.filter((each) => (module === undefined ? each.file.endsWith(".py") : each.name === module));
  if (candidates.length === 0) {
    const known = Array.from(new Set(modules.map((each) => each.name)));
    const what = module === undefined ? "expected module.function, for example parse.parse_report" : unknownName("module", module, known);
    return { reason: "FUNCTION_NOT_SERVED", message: `${what} (looked in ${functionsDir})` };
  }
  const having = candidates.filter(({ names }) => names.includes(own));
  const files = (of: readonly FunctionModule[]): string => of.map(({ file }) => relative(root, file)).join(" and ");
  if (having.length > 1) {
    const advice = module === undefined ? `; name its module, as in ${having[0]?.name}.${own}` : "; expected it in one of them";
    return { reason: "FUNCTION_AMBIGUOUS", message: `${files(having)} both have it${advice}` };
  }
  if (having.length === 1 || candidates.some(({ isOpen }) => isOpen)) return undefined;
  const known = Array.from(new Set(candidates.flatMap(({ names }) => names)));
  const where = module === undefined ? functionsDir : files(candidates);
  return { reason: "FUNCTION_NOT_SERVED", message: `${unknownName("function", own, known)} (looked in ${where})` };
}
