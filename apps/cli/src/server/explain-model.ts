import { isDemoModel } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import { mayRunCode } from "../agent/workspace-trust.ts";
import type { ProjectLink } from "./project-link.ts";
import { type ProjectSettings, readProjectSettings } from "./project-settings.ts";

/** Errors: not_found for a model that the demo provider does not have; whoever serves it would say so only once it is called. */
export async function checkDemoModels(models: readonly string[], link: ProjectLink, environment: NodeJS.ProcessEnv): Promise<void> {
  for (const model of models) if (model.startsWith("demo/") && !isDemoModel(model)) await checkModelHere(model, link, environment);
}

/** What to do where no worker serves a model: set something, or start the server anew where it is set by now. Any other error stays as it is. */
export async function explainModel(error: unknown, link: ProjectLink, environment: NodeJS.ProcessEnv): Promise<unknown> {
  if (!(error instanceof ForgeError) || error.reason !== "MODEL_NOT_SERVED") return error;
  // What is set here says nothing of a server elsewhere.
  if (link.reach.kind === "remote") return error;
  const model = error.detail.metadata.name ?? "";
  if (!model.includes("/")) return error;
  try {
    await checkModelHere(model, link, environment);
  } catch (problem) {
    return problem;
  }
  const advice = "the running Forge was started without what this model needs: end it (npx forge down) and try again";
  return new ForgeError(error.code, `${error.message}; ${advice}`, { ...error.detail, cause: error });
}

async function settingsOf({ root, code }: ProjectLink, environment: NodeJS.ProcessEnv): Promise<ProjectSettings> {
  return readProjectSettings(root, environment, { runsCode: code === "all" || (await mayRunCode(environment, root)) });
}

async function checkModelHere(model: string, link: ProjectLink, environment: NodeJS.ProcessEnv): Promise<void> {
  const [{ checkModel }, settings] = await Promise.all([import("@forge/host"), settingsOf(link, environment)]);
  checkModel(model, { env: settings.environment, config: settings.providers });
}
