import path from "node:path";
import { ForgeError } from "@forge/protocol";
import { listWorkflows, loadWorkflow } from "@forge/workflow";
import { readProjectSettings } from "../../server/project-settings.ts";
import { type Found, ok, problem, warning } from "../finding.ts";
import type { Subject } from "../subject.ts";

/** More are not looked at. */
const WORKFLOWS_MAX = 200;

/** Whether the project's files say what they must. */
export async function checkProjectFiles({ root, environment }: Subject): Promise<readonly Found[]> {
  const settings = await readProjectSettings(root, environment, { runsCode: true }).catch((error: unknown) => {
    if (error instanceof ForgeError) return error;
    throw error;
  });
  if (settings instanceof ForgeError) return [problem(settings.message, "mend it: no command works in this project until then")];
  const { project } = settings;
  const files = await listWorkflows(project);
  const looked = await Promise.all(
    files.slice(0, WORKFLOWS_MAX).map(async (file): Promise<readonly Found[]> => {
      const name = path.relative(root, file.path);
      try {
        const { warnings } = await loadWorkflow(project, file.path);
        return warnings.map((message) => warning(message, `look at ${name}`));
      } catch (error) {
        if (!(error instanceof ForgeError)) throw error;
        return [problem(`${name} is not right: ${error.message}`, "mend it: its runs can't be started until then")];
      }
    }),
  );
  const found = [...project.warnings.map((message) => warning(message, "look at runtime.yaml")), ...looked.flat()];
  return found.length > 0 ? found : [ok(`${files.length} ${files.length === 1 ? "workflow" : "workflows"} in ${root}, with nothing wrong`)];
}
