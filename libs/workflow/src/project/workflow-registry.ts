import { parse, relative } from "node:path";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { WORKFLOW_BYTES_MAX } from "../definition/parse-workflow.ts";
import { parseReference, type Reference } from "../definition/reference.ts";
import { compareVersions } from "../definition/version.ts";
import { readTextFile } from "../read-text-file.ts";
import { peekIdentity } from "../yaml/peek-identity.ts";
import { unknownName } from "../yaml/problems.ts";
import type { Project } from "./project.ts";
import { yamlFiles } from "./yaml-files.ts";

/** A workflow file as the registry lists it; whether it is valid shows when it is loaded. */
export interface WorkflowFile {
  readonly path: string;
  readonly id: string;
  readonly version: string;
}

const REASON = "WORKFLOW_NOT_FOUND";

/** The workflows of a project, by id and version. YAML files that name no workflow are passed over. */
export async function listWorkflows(project: Project): Promise<WorkflowFile[]> {
  return (await readWorkflows(project)).files;
}

/** `nameless` are the files that name no workflow, perhaps because they can't be read. */
async function readWorkflows(project: Project): Promise<{ readonly files: WorkflowFile[]; readonly nameless: readonly string[] }> {
  const paths = await yamlFiles(project.workflowsDir, { recursive: true });
  const nameless: string[] = [];
  const files = await Promise.all(
    paths.map(async (path) => {
      const text = await readTextFile(path, { what: "workflow", bytesMax: WORKFLOW_BYTES_MAX, reason: "WORKFLOW_VALIDATION" });
      const { id, version } = peekIdentity(text, "workflow");
      if (id !== undefined && version !== undefined) return [{ path, id, version }];
      nameless.push(path);
      return [];
    }),
  );
  return { files: files.flat().toSorted((a, b) => (a.id === b.id ? compareVersions(a.version, b.version) : a.id < b.id ? -1 : 1)), nameless };
}

/**
 * The file of a workflow by id or id@version; without a version the latest by its numbers. Where nothing has that id, a file of that name which names no
 * workflow: what is wrong with it shows when it is loaded. Throws ForgeError: not_found; validation where two files claim it.
 */
export async function findWorkflow(project: Project, reference: string): Promise<WorkflowFile> {
  const { files, nameless } = await readWorkflows(project);
  const parsed = parseReference(reference);
  const named = files.filter(({ id }) => id === parsed?.id);
  const wanted = parsed?.version ?? named.at(-1)?.version;
  const [found, other] = named.filter(({ version }) => version === wanted);
  const broken = named.length === 0 ? nameless.find((path) => parse(path).name === parsed?.id) : undefined;
  if (broken !== undefined) return { path: broken, id: parsed?.id ?? "", version: "" };
  if (found === undefined) throw notFound(project, reference, parsed, files, named);
  if (other === undefined) return found;
  const paths = [found, other].map(({ path }) => relative(project.root, path)).join(" and ");
  throw new ForgeError(ErrorCode.VALIDATION, `${paths} both are workflow ${found.id}@${found.version}; expected one file for each version`, {
    reason: "WORKFLOW_VALIDATION",
  });
}

/** What a reference to the project itself runs: its `default_workflow`, or its only one. */
export async function findDefaultWorkflow(project: Project): Promise<WorkflowFile> {
  const preset = project.config.default_workflow;
  if (preset !== undefined) return findWorkflow(project, preset);
  const { files, nameless } = await readWorkflows(project);
  const ids = Array.from(new Set(files.map(({ id }) => id)));
  const [only, other] = ids;
  const [broken] = nameless;
  if (only === undefined && broken !== undefined) return { path: broken, id: "", version: "" };
  if (only !== undefined && other === undefined) return findWorkflow(project, only);
  const problem =
    only === undefined ? `there is no workflow in ${project.workflowsDir}` : `${project.root} has ${ids.length} workflows: ${ids.slice(0, 20).join(", ")}`;
  const advice = only === undefined ? "" : "; name one, or set default_workflow in runtime.yaml";
  throw new ForgeError(ErrorCode.NOT_FOUND, `${problem}${advice}`, { reason: REASON, metadata: { file: project.root } });
}

function notFound(
  project: Project,
  written: string,
  reference: Reference | undefined,
  files: readonly WorkflowFile[],
  named: readonly WorkflowFile[],
): ForgeError {
  const known =
    reference?.version !== undefined && named.length > 0 ? named.map(({ id, version }) => `${id}@${version}`) : Array.from(new Set(files.map(({ id }) => id)));
  return new ForgeError(ErrorCode.NOT_FOUND, `${unknownName("workflow", written, known)} (looked in ${project.workflowsDir})`, {
    reason: REASON,
    metadata: { file: project.workflowsDir },
  });
}
