import path from "node:path";
import { findProject, openProject, type Project } from "@forge/workflow/project";
import type { Context } from "../context.ts";

/** The project that a person named, the nearest above, or the directory itself. Errors: not_found; validation of runtime.yaml. */
export async function openNamedProject({ directory }: Context, named: string | undefined): Promise<Project> {
  if (named !== undefined) return await openProject(path.resolve(directory, named));
  return await openProject((await findProject(directory)) ?? directory);
}
