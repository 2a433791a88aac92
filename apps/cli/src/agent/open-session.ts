import { create } from "@bufbuild/protobuf";
import { commandHeader } from "@forge/client";
import type { Session } from "@forge/protocol/session";
import { Decision, ToolMode, type ToolPolicy, ToolRuleSchema } from "@forge/protocol/tool";
import type { Context, ServerOptions } from "../context.ts";
import { checkDemoModels, explainModel } from "../server/explain-model.ts";
import type { LocatedProject } from "../server/locate-project.ts";
import { openLink } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import { remoteHint, remoteOf } from "../server/remote.ts";
import type { AgentOptions } from "./agent-options.ts";
import { agentOf, modeOf, refuseAgentOptions } from "./agent-spec.ts";
import { defaultModel } from "./default-model.ts";
import { locateWorkspace } from "./locate-workspace.ts";
import { projectDefaults } from "./project-defaults.ts";
import { checkBypass, hooksOf, settleTrust } from "./workspace-trust.ts";

export interface SessionOptions extends ServerOptions, AgentOptions {
  readonly worktree?: string | true;
  /** Trusts the workspace as it is now, without asking. */
  readonly trust?: boolean;
}

export interface OpenSession {
  readonly link: ProjectLink;
  readonly session: Session;
  /** What a later command must say to mean the same project. */
  readonly hint: string;
}

export interface OpenSessionOptions {
  /** Absent: a new one. */
  readonly sessionId?: string;
  /** JSON Schema that the last answer must match. */
  readonly outputSchemaJson?: string;
  /** In a person's place, wherever somebody would be asked. */
  readonly answer?: ToolPolicy["answer"];
  /** Tools, or prefixes and *, that are never called. */
  readonly deny?: readonly string[];
}

/** Finds the workspace that is meant, and settles whether it is trusted, before anything of it is started. Errors: validation, not_found, cancelled. */
export async function prepareWorkspace(
  context: Context,
  options: SessionOptions,
  { sessionId, canAsk }: { readonly sessionId?: string; readonly canAsk: boolean },
): Promise<LocatedProject> {
  const isRemote = remoteOf(context, options) !== undefined;
  if (sessionId !== undefined) refuseAgentOptions(options, sessionId);
  const located = await locateWorkspace(context, options, { hasData: sessionId !== undefined && !isRemote });
  if (isRemote) return located;
  await settleTrust(context, located.root, { accepts: options.trust === true, canAsk, sameAs: located.of });
  if (options.mode === "BYPASS") await checkBypass(context.environment, located.root);
  return located;
}

/** Opens a session, or makes one, in a workspace. */
export async function openSession(
  context: Context,
  options: SessionOptions,
  { root, hint }: LocatedProject,
  opening: OpenSessionOptions,
): Promise<OpenSession> {
  const { sessionId } = opening;
  const link = await openLink(context, options, { root, reads: false, code: "trusted" });
  try {
    const id = sessionId ?? (await createSession(context, link, options, opening));
    const { session } = await link.call((client) => client.session.getSessionSnapshot({ sessionId: id }));
    if (session === undefined) throw new Error("the session service answered without a session");
    if (sessionId !== undefined && options.mode !== undefined) await setMode(link, session, modeOf(options.mode));
    return { link, session, hint: `${hint}${remoteHint(options)}` };
  } catch (error) {
    await link.close();
    throw error;
  }
}

async function createSession(
  { environment }: Context,
  link: ProjectLink,
  options: SessionOptions,
  { outputSchemaJson, answer, deny = [] }: OpenSessionOptions,
): Promise<string> {
  const { policy: projectPolicy, model: projectModel } = await projectDefaults(environment, link.root);
  const header = commandHeader();
  const model = options.model ?? (await defaultModel({ environment, configured: projectModel }));
  const hooks = link.reach.kind === "remote" ? [] : await hooksOf(environment, link.root);
  const agent = agentOf(options, { model, outputSchemaJson, hooks });
  await checkDemoModels([model], link, environment);
  const configured = withoutType(projectPolicy);
  const rules = [...deny.map((tool) => create(ToolRuleSchema, { tool, decision: Decision.DENY })), ...configured.rules];
  const policy = { ...configured, rules, mode: modeOf(options.mode), ...(answer === undefined ? {} : { answer }) };
  const { sessionId } = await link
    .call((client) => client.session.createSession({ header, agent, policy, queue: link.queue }))
    .catch(async (error: unknown) => {
      throw await explainModel(error, link, environment);
    });
  return sessionId;
}

async function setMode(link: ProjectLink, { sessionId, policy }: Session, mode: ToolMode): Promise<void> {
  if ((policy?.mode ?? ToolMode.UNSPECIFIED) === mode) return;
  const header = commandHeader();
  await link.call((client) =>
    client.session.updateSessionPolicy({ header, sessionId, policy: { ...(policy === undefined ? {} : withoutType(policy)), mode } }),
  );
}

/** A policy's fields, to make another one of. */
export function withoutType({ $typeName: _name, $unknown: _unknown, ...fields }: ToolPolicy): Omit<ToolPolicy, "$typeName" | "$unknown"> {
  return fields;
}
