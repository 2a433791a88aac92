import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Context, ServerOptions } from "../context.ts";
import { showStatus } from "../output/status-line.ts";
import { hasData, type LocatedProject, locateProject } from "./locate-project.ts";
import { ProjectLink } from "./project-link.ts";
import { remoteHint, remoteOf } from "./remote.ts";
import type { WantedCode } from "./settle-data.ts";

export interface LinkedProject extends LocatedProject {
  readonly link: ProjectLink;
}

/** The link of a command that only reads; undefined where nothing has ever been kept for the project. */
export async function openReading(context: Context, options: ServerOptions): Promise<LinkedProject | undefined> {
  const { hasAny, ...located } = await locate(context, options);
  if (!hasAny) return undefined;
  return { ...located, link: await openLink(context, options, { root: located.root, reads: true }) };
}

/** The link of a command about something that exists already. Errors: not_found where nothing has ever been kept for the project. */
export async function openExisting(
  context: Context,
  options: ServerOptions,
  { reads, code }: { readonly reads: boolean; readonly code?: WantedCode },
): Promise<LinkedProject> {
  const { hasAny, ...located } = await locate(context, options);
  if (!hasAny) {
    throw new ForgeError(ErrorCode.NOT_FOUND, `nothing has run in ${located.root} yet: go to the project's directory, or name it with --project`, {
      reason: "PROJECT_EMPTY",
    });
  }
  return { ...located, link: await openLink(context, options, { root: located.root, reads, code }) };
}

/** The project, and whether anything may ever have been kept for it. */
async function locate(context: Context, options: ServerOptions): Promise<LocatedProject & { readonly hasAny: boolean }> {
  // Who names a control plane means what is there, wherever he is; a project gives files, then.
  if (remoteOf(context, options) !== undefined) {
    const { root, hint } = await locateProject(context, options, { hasData: false });
    return { root, hint: `${hint}${remoteHint(options)}`, hasAny: true };
  }
  const located = await locateProject(context, options, { hasData: true });
  return { ...located, hasAny: Boolean(context.environment.DATABASE_URL) || (await hasData(located.root)) };
}

/** The link to a project, telling a person on a terminal what takes time. */
export async function openLink(
  { terminal, environment }: Context,
  options: ServerOptions,
  project: { readonly root: string; readonly reads: boolean; readonly code?: WantedCode },
): Promise<ProjectLink> {
  const remote = remoteOf({ environment }, options);
  const status = showStatus(terminal, options.json === true);
  try {
    const foreground = options.foreground ?? isSet(environment.CI);
    return await ProjectLink.open({ ...project, foreground, environment, remote, onProgress: status.say });
  } finally {
    status.close();
  }
}

/** CI=true and CI=1, as the services set it. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false"].includes(value.toLowerCase());
}
