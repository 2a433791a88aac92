import { stat } from "node:fs/promises";
import path from "node:path";

/** The interpreter of a project: the one that FORGE_PYTHON names, of the environment that is active, of one that lies in the project, or the machine's. */
export async function findPython(root: string, environment: NodeJS.ProcessEnv): Promise<string> {
  if (environment.FORGE_PYTHON) return environment.FORGE_PYTHON;
  const places = [environment.VIRTUAL_ENV, path.join(root, ".venv"), path.join(root, "venv")];
  for (const place of places) {
    if (!place) continue;
    const python = path.join(place, "bin", "python3");
    if ((await stat(python).catch(() => undefined)) !== undefined) return python;
  }
  return "python3";
}
